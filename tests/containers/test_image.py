"""The image: what is in it, who it runs as, and what its layers were made of."""

import hashlib
import json
import re
import stat
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from tests.containers.contents import Entry, listing, wrong
from tests.fakes.sources import ROOT
from tests.servers import containers

from caliper.version import __version__

# Bytes: what docs/containers.md states, with room for a few releases of the packages.
LARGEST = 700_000_000
# Names of the distributions in the image, and which of them the named ones need.
NEEDED = """
import json, re, sys
from importlib.metadata import distributions
from packaging.requirements import Requirement

def plain(name):
    return re.sub("[-_.]+", "-", name).lower()

there = {plain(found.metadata["Name"]): found for found in distributions()}
needed, asked = set(), [Requirement(text) for text in json.loads(sys.argv[1])]
while asked:
    one = asked.pop()
    for extra in ("", *one.extras):
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            break
    else:
        continue
    key = (plain(one.name), tuple(sorted(one.extras)))
    if key in needed:
        continue
    needed.add(key)
    for text in there[key[0]].requires or ():
        inner = Requirement(text)
        if inner.marker is None or any(
            inner.marker.evaluate({"extra": extra}) for extra in ("", *one.extras)
        ):
            inner.marker = None
            asked.append(inner)
print(json.dumps([sorted(there), sorted({name for name, _ in needed})]))
"""


@pytest.fixture(scope="module")
def files(image: str) -> list[Entry]:
    return listing(image)


@pytest.fixture(scope="module")
def told(image: str) -> dict[str, Any]:
    (found,) = json.loads(containers.podman("image", "inspect", image))
    assert isinstance(found, dict)
    return found


def test_nothing_is_in_it_that_does_not_belong_there(files: list[Entry]) -> None:
    assert len(files) > 3000
    assert {entry.path: wrong(entry) for entry in files if wrong(entry)} == {}


@pytest.mark.parametrize(
    ("path", "mode", "rule"),
    [
        ("/usr/bin/su", 0o104755, "set-user-id"),
        ("/app/services/__init__.py", 0o100666, "writable by everybody"),
        ("/bin/sh", 0o120777, "shell"),
        ("/opt/caliper/lib/python3.11/site-packages/pip", 0o040755, "build tool"),
        ("/x/site-packages/setuptools-79.0.1.dist-info", 0o040755, "build tool"),
        ("/usr/bin/gcc", 0o100755, "build tool"),
        ("/usr/bin/apt-get", 0o100755, "tool"),
        ("/x/site-packages/numpy/tests/test_it.py", 0o100644, "tests"),
        ("/secrets/caliper-tls-judge/tls.key", 0o100600, "secret"),
        ("/etc/pip.conf", 0o100644, "secret"),
    ],
)
def test_what_does_not_belong_there_is_found(path: str, mode: int, rule: str) -> None:
    assert rule in wrong(Entry(path, mode, 0, 1))


def test_it_is_not_larger_than_the_page_says(told: dict[str, Any]) -> None:
    assert told["Size"] < LARGEST
    page = (ROOT / "docs" / "containers.md").read_text("utf-8")
    stated = re.search(r"\*\*(\d+) MB\*\*", page)
    assert stated is not None
    # As podman counts: within a twentieth, for packages differ a little between base images.
    assert abs(told["Size"] / 1e6 - int(stated[1])) < int(stated[1]) / 20


def test_only_what_the_dependencies_need_is_installed(image: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    (every,) = map(Requirement, extras["all"])
    wanted = [*project["dependencies"], *(one for name in every.extras for one in extras[name])]
    code = f"import sys; sys.argv = ['', {json.dumps(wanted)!r}]\n{NEEDED}"
    there, needed = json.loads(containers.python(image, code))
    assert there == needed


def test_our_code_is_that_of_this_checkout(image: str) -> None:
    code = """
import hashlib, json, pathlib
app = pathlib.Path("/app")
found = [file for file in app.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
print(json.dumps({str(file.relative_to(app)): hashlib.sha256(file.read_bytes()).hexdigest()
                  for file in found}))
"""
    ours = {
        str(file.relative_to(folder.parent)): hashlib.sha256(file.read_bytes()).hexdigest()
        for folder in (ROOT / "src" / "caliper", ROOT / "services")
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert json.loads(containers.python(image, code)) == ours


def test_it_is_compiled(files: list[Entry]) -> None:
    ours = {entry.path for entry in files if entry.path.startswith("/app/")}
    assert "/app/caliper/__pycache__/version.cpython-311.pyc" in ours


def test_what_is_compiled_holds_whatever_times_files_have(image: str) -> None:
    # A release gives all files one time: code that is compiled for its source's would be lost.
    code = """
import pathlib
roots = map(pathlib.Path, ("/app", "/opt/caliper"))
flags = [file.read_bytes()[4] for root in roots for file in root.rglob("*.pyc")]
print(len(flags), set(flags))
"""
    number, _, flags = containers.python(image, code).partition(" ")
    assert int(number) > 1000
    assert flags == "{3}\n"


def test_it_runs_as_nobody_in_particular_and_can_change_nothing(image: str) -> None:
    code = """
import json, os, pathlib
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
kept = []
for folder in ("/", "/app", "/app/caliper", "/opt/caliper", "/etc", "/data", "/secrets", "/usr"):
    try:
        pathlib.Path(folder, "planted").write_text("x")
    except OSError:
        continue
    kept.append(folder)
pathlib.Path("/tmp/scratch").write_text("x")
sets = {name: int(status[name], 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")}
print(json.dumps([os.getuid(), os.getgid(), os.getgroups(), sets, status["NoNewPrivs"].strip(),
                  kept]))
"""
    user, group, groups, sets, stuck, kept = json.loads(containers.python(image, code))
    assert (user, group, groups) == (10001, 10001, [10001])
    assert set(sets.values()) == {0}
    assert stuck == "1"
    assert kept == []


def test_its_folders_for_volumes_are_its_users_own(files: list[Entry]) -> None:
    found = {entry.path: entry for entry in files if entry.path in ("/data", "/secrets")}
    assert {path: entry.owner for path, entry in found.items()} == {
        "/data": 10001,
        "/secrets": 10001,
    }
    assert {stat.S_IMODE(entry.mode) for entry in found.values()} == {0o700}


def test_what_it_tells_of_itself(told: dict[str, Any]) -> None:
    config = told["Config"]
    assert config["User"] == "10001:10001"
    assert config["Entrypoint"] == ["/opt/caliper/bin/python3", "-m", "services"]
    labels = {name.rpartition(".")[2]: value for name, value in config["Labels"].items()}
    assert labels["version"] == __version__
    assert labels["name"] == containers.base()
    assert labels["title"] == "Caliper"
    given = [name.partition("=")[0] for name in config["Env"]]
    assert not [name for name in given if re.search("TOKEN|PASSWORD|SECRET|_KEY", name)]
    assert not [name for name in given if name.startswith("CALIPER_")]


def test_its_layers_are_those_of_the_last_stage_alone(image: str, told: dict[str, Any]) -> None:
    steps = json.loads(containers.podman("history", "--no-trunc", "--format", "json", image))
    said = " ".join(step["CreatedBy"] for step in steps)
    assert "--from=dependencies" in said or "COPY" in said
    assert not re.search(r"pip install|apt-get|https?://|index|pip\.conf", said)
    assert len(told["RootFS"]["Layers"]) <= len(steps)
