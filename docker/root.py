# ruff: noqa: INP001 - a script of the Dockerfile, imported by nobody
"""Gathers what the last stage of the image is made of: an interpreter, the packages in its virtual
environment and the libraries that they load. No shell, no package manager, nothing set-user-id.

    python3 root.py /opt/caliper /image     gather it in the second folder
    python3 root.py --prune /opt/language   only take away from packages what no service reads

Files keep their paths, under that folder; the environment is moved there. It runs where the
packages were installed, as root, and knows both ways in which Python lies on Debian: in /usr and,
from python.org, in /usr/local.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

USER = 10001
ACCOUNTS = {
    "etc/passwd": f"caliper:x:{USER}:{USER}:Caliper:/tmp:/nonexistent\n",
    "etc/group": f"caliper:x:{USER}:\n",
    # Names are looked up in /etc/hosts and by DNS, in this order.
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
# Whom it trusts, what it is, and where the loader looks.
TAKEN = ("/etc/ssl/certs/ca-certificates.crt", "/etc/os-release", "/etc/ld.so.cache")
# Of the standard library: tests, editors, and what installs or builds.
LEFT = ("test", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "pydoc_data")
LEFT += ("site-packages", "dist-packages", "config-*")
# Of the packages: tests, and what only compilers read.
DEAD = ("**/tests", "**/conftest.py", "Crypto/SelfTest")
DEAD += tuple(f"**/*.{kind}" for kind in ("pyx", "pxd", "pxi", "pyi", "h", "hpp", "a"))
# Of pyarrow: its servers of tables and their clients, and its reader of S3, loaded by nothing else.
DEAD += ("pyarrow/*arrow_flight*", "pyarrow/_flight.*", "pyarrow/libarrow_s3*", "pyarrow/_s3fs*")


def prune(packages: Path, commands: Path) -> None:
    """Delete what no service reads, and commands other than Python itself."""
    dead = [found for pattern in DEAD for found in sorted(packages.glob(pattern))]
    dead += [found for found in commands.iterdir() if not found.name.startswith("python")]
    for found in dead:
        if found.is_dir() and not found.is_symlink():
            shutil.rmtree(found)
        else:
            found.unlink(missing_ok=True)


def libraries(files: Iterable[Path]) -> set[Path]:
    """What the loader maps for these programs and libraries, by the paths that it uses."""
    told = subprocess.run(  # noqa: S603 - files of this folder
        ["ldd", *sorted(map(str, files))],  # noqa: S607 - the one of the build stage
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return {Path(path) for path in re.findall(r"(?:=> |^\t)(/\S+) \(0x", told, re.MULTILINE)}


def copy(source: Path, image: Path) -> None:
    """One file into the image, at its place behind the links of folders on the way."""
    place = image / str(source.parent.resolve() / source.name).removeprefix("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, place)


def gather(environment: Path, image: Path) -> None:
    """Fill `image`."""
    (packages,) = environment.glob("lib/python3*/site-packages")
    prune(packages, environment / "bin")
    stdlib = Path(sysconfig.get_path("stdlib"))
    interpreter = Path(sys.executable).resolve()
    ignore = shutil.ignore_patterns(*LEFT, "__pycache__")
    shutil.copytree(stdlib, image / str(stdlib).lstrip("/"), ignore=ignore, symlinks=True)
    copy(interpreter, image)
    # The environment's own link leads to this name.
    named = (environment / "bin" / "python3").readlink()
    if named != interpreter:
        (image / str(named).lstrip("/")).symlink_to(interpreter)
    moved = image / str(environment).lstrip("/")
    moved.parent.mkdir(parents=True)
    environment.rename(moved)
    binaries = [interpreter, *image.rglob("*.so"), *image.rglob("*.so.*")]
    for library in libraries(file for file in binaries if not file.is_symlink()):
        if not library.is_relative_to(image):
            copy(library, image)
    for taken in TAKEN:
        copy(Path(taken), image)
    # Those of a merged /usr, /lib64 above all, where the loader is looked for.
    for link in (path for path in Path("/").iterdir() if path.is_symlink()):
        if (image / link.readlink()).exists():
            (image / link.name).symlink_to(link.readlink())
    for name, text in ACCOUNTS.items():
        (image / name).write_text(text, "ascii")
    (image / "tmp").mkdir(mode=0o1777)
    (image / "tmp").chmod(0o1777)
    for name in ("data", "secrets"):
        (image / name).mkdir(mode=0o700)
        os.chown(image / name, USER, USER)


if __name__ == "__main__":
    if sys.argv[1] == "--prune":
        prune(Path(sys.argv[2]), Path(sys.argv[2]) / "bin")
    else:
        gather(Path(sys.argv[1]), Path(sys.argv[2]))
