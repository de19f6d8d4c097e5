"""The image of a release: it says where it comes from, and two of one commit are the same bytes.

Each is built from nothing in a storage of its own, on the base that the tests have, with the
packages that `caliper --version` needs, some with compiled code: installing all others takes two
minutes, and what does that is the same. `image` has all of them.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.fakes.sources import ROOT
from tests.servers import containers
from tools.releases import image as release_image

EPOCH = 1_700_000_000
ARCHIVE = "caliper-1.0-amd64.tar"
KEYS = ("source", "revision", "created")
LABELS = release_image.labels("https://git.example.com/caliper", "abc", EPOCH)
NEEDED = ("annotated-doc", "click", "markdown-it-py", "mdurl", "pygments", "rich", "shellingham")
NEEDED += ("typer", "pydantic", "pydantic-core", "annotated-types", "typing-extensions")
NEEDED += ("typing-inspection", "pycryptodome")
STORAGE = """\
[storage]
driver = "overlay"
graphroot = "{folder}/images"
runroot = "{folder}/running"
[storage.options]
additionalimagestores = ["{base}"]
"""


@pytest.fixture(scope="module")
def folder(image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where releases are kept until the last test. `image` has brought the base."""
    assert image
    if not (ROOT / ".git").exists():
        pytest.skip("a release is made of a commit, and there is no git history here")
    found = tmp_path_factory.mktemp("releases")
    yield found
    shutil.rmtree(found)


def _built(out: Path) -> Path:
    """The archive of a release, made when it is not there: each test has time for one."""
    if not out.exists():
        out.mkdir()
        _release(out)
    return out / ARCHIVE


def _release(out: Path) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patched:
        storage = Path(name, "storage.conf")
        storage.write_text(STORAGE.format(folder=name, base=containers.storage()), "utf-8")
        patched.setenv("CONTAINERS_STORAGE_CONF", str(storage))
        source = Path(name, "source")
        tree = subprocess.run(
            ["git", "-C", ROOT, "archive", "HEAD"], capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(tree.stdout)) as packed:
            packed.extractall(source)  # noqa: S202 - our own
        lock = source / "requirements.lock"
        lock.write_text(_only(lock.read_text("utf-8"), NEEDED), "utf-8")
        options = ["--pull-never", *containers.secrets(Path(name))]
        plan = release_image.Plan(source, "1.0", LABELS, EPOCH, options)
        ours, other = release_image.build(plan, out)
    assert ours == f"image for amd64: {ARCHIVE}"
    # The base is this processor's.
    assert other.startswith("image for arm64: not built: ")


def _only(lock: str, names: Sequence[str]) -> str:
    """What a lock says of these packages."""
    parts = {part.partition("==")[0]: part for part in re.split(r"\n(?=[a-z])", lock.strip())}
    return "".join(f"{parts[name]}\n" for name in names)


def test_it_says_where_it_comes_from(folder: Path) -> None:
    with tarfile.open(_built(folder / "one")) as archive:
        read = partial(_read, archive)
        (listed,) = read("index.json")["manifests"]
        manifest = read(_blob(listed["digest"]))
        config = read(_blob(manifest["config"]["digest"]))
        assert {member.mtime for member in archive} == {EPOCH}
    assert config["architecture"] == "amd64"
    assert LABELS.items() <= config["config"]["Labels"].items()
    assert set(LABELS) == {f"org.opencontainers.image.{key}" for key in KEYS}


def test_two_of_one_commit_are_equal(folder: Path) -> None:
    first, second = (_built(folder / name).read_bytes() for name in ("one", "other"))
    assert first == second


def _blob(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def _read(archive: tarfile.TarFile, name: str) -> dict[str, Any]:
    found = archive.extractfile(name)
    assert found is not None
    answer: dict[str, Any] = json.load(found)
    return answer
