"""What must not be in the image, looked for in a list of its files."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from tests.servers import containers

# Printed by Python inside the image: path, mode, owner and size of everything in it.
LISTING = """
import json, os
found = []
for folder, folders, files in os.walk("/"):
    if folder == "/":
        # The machine's, seen from inside.
        folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
    for name in folders + files:
        path = os.path.join(folder, name)
        status = os.lstat(path)
        found.append([path, status.st_mode, status.st_uid, status.st_size])
print(json.dumps(found))
"""
SHELLS = {"sh", "bash", "dash", "ash", "zsh", "busybox", "toybox"}
BUILDERS = {"pip", "pip3", "gcc", "cc", "c++", "g++", "ld", "as", "make", "cmake", "go", "cargo"}
BUILDERS |= {"setuptools", "wheel", "ensurepip", "hatchling", "editables", "uv", "pytest"}
MANAGERS = {"apt", "apt-get", "dpkg", "apk", "perl", "curl", "wget", "su", "sudo", "mount"}
_KEY = re.compile(r"\.(key|p12|pfx|jks)$|(^|/)(id_rsa|id_ed25519|\.netrc|pip\.conf|\.env)$")


@dataclass(frozen=True)
class Entry:
    """A file or folder of the image. `size` in bytes."""

    path: str
    mode: int
    owner: int
    size: int


def listing(image: str) -> list[Entry]:
    return [Entry(*each) for each in json.loads(containers.python(image, LISTING))]


def wrong(entry: Entry) -> str:
    """What is wrong with an entry, in a word; empty where nothing is."""
    path = PurePosixPath(entry.path)
    link, sticky = (entry.mode & 0o170000) == 0o120000, bool(entry.mode & 0o1000)
    name = path.name.partition("-")[0]
    rules = {
        "set-user-id": bool(entry.mode & 0o6000),
        "writable by everybody": bool(entry.mode & 0o002) and not link and not sticky,
        "shell": path.name in SHELLS,
        "build tool": path.name in BUILDERS or (name in BUILDERS and ".dist-info" in path.name),
        "tool": path.name in MANAGERS and "site-packages" not in path.parts,
        "tests": "tests" in path.parts or path.name == "conftest.py",
        "secret": _KEY.search(entry.path) is not None,
    }
    return ", ".join(rule for rule, broken in rules.items() if broken)
