"""A release holds what it says, and the same commit gives the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path

import pytest
from tests.fakes.http_answers import serving
from tests.fakes.sources import ROOT
from tools.releases import image, registries
from tools.releases.bill import pins

from caliper.version import __version__

EPOCH = 1_700_000_000
DIGEST = "sha256:" + "0a" * 32


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two of the same commit."""
    if not (ROOT / ".git").exists():
        pytest.skip("a release is made of a commit, and there is no git history here")
    first, second = (tmp_path_factory.mktemp("release") / name for name in ("one", "other"))
    for out, umask in ((first, 0o022), (second, 0o077)):
        subprocess.run(
            [sys.executable, ROOT / "tools" / "release.py", "--offline", "--out", out],
            env=os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)},
            umask=umask,
            check=True,
        )
    return first, second


def _bytes(release: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in release.iterdir()}


def test_two_of_one_commit_are_equal(releases: tuple[Path, Path]) -> None:
    first, second = map(_bytes, releases)
    assert {name for name in first if first[name] != second.get(name)} == set()
    assert set(first) == set(second)


def test_what_is_in_it(releases: tuple[Path, Path]) -> None:
    found = _bytes(releases[0])
    sums = dict(line.split()[::-1] for line in found.pop("SHA256SUMS").decode().splitlines())
    assert sums == {name: sha256(data).hexdigest() for name, data in found.items()}
    assert f"caliper_captions-{__version__}-py3-none-any.whl" in found
    with tarfile.open(fileobj=BytesIO(found[f"caliper-{__version__}-manifests.tar.gz"])) as packed:
        names = packed.getnames()
    assert f"caliper-{__version__}/deploy/k8s/kustomization.yaml" in names
    told = found["RELEASE.txt"].decode()
    assert "image: not asked for" in told
    # What has no digest is said to have none.
    assert {f"{line}\n" in told for line in found["images.txt"].decode().splitlines()} == {True}


def test_the_bill_and_the_notices_have_all_that_is_locked(releases: tuple[Path, Path]) -> None:
    found = _bytes(releases[0])
    bill = json.loads(found[f"caliper-{__version__}.cdx.json"])
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
    locked = {(pin.name, pin.version) for pin in pins((ROOT / "requirements.lock").read_text())}
    assert len(locked) > 50
    assert {(each["name"], each["version"]) for each in bill["components"]} == locked
    assert set(bill["dependencies"][0]["dependsOn"]) == {
        f"pkg:pypi/{name}@{version}" for name, version in locked
    }
    notices = found["THIRD-PARTY-NOTICES.txt"].decode().splitlines()
    assert {f"{name} {version}" for name, version in locked} <= set(notices)


def test_a_hash_of_the_lock_is_no_package() -> None:
    lock = "a-b.c==1.0 ; sys_platform != 'win32' \\\n    --hash=sha256:00\nd==2\n"
    assert [(pin.name, pin.version) for pin in pins(lock)] == [("a-b.c", "1.0"), ("d", "2")]


class _Registry(BaseHTTPRequestHandler):
    """Tells the digest of `kept/image:1.0` to whoever shows the token of everybody."""

    def do_HEAD(self) -> None:
        if self.headers.get("Authorization") != "Bearer everybody":
            self.send_response(401)
            realm = f"http://{self.headers['Host']}/token"
            self.send_header("WWW-Authenticate", f'Bearer realm="{realm}",scope="pull:kept"')
        elif self.path == "/v2/kept/image/manifests/1.0":
            self.send_response(200)
            self.send_header("Docker-Content-Digest", DIGEST)
        else:
            self.send_response(404)
        self.end_headers()

    def do_GET(self) -> None:
        known = self.path == "/token?scope=pull%3Akept"
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(b'{"token": "everybody"}')

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def registry() -> Iterator[str]:
    with serving(_Registry) as address:
        yield address


def test_a_registry_tells_the_digest(registry: str) -> None:
    image_of = f"{registry}/kept/image:1.0"
    assert registries.pinned(image_of, "http") == f"{image_of}@{DIGEST}"


def test_a_tag_that_is_not_there_is_told(registry: str) -> None:
    with pytest.raises(OSError, match="404"):
        registries.pinned(f"{registry}/kept/image:2.0", "http")


def test_the_image_says_where_it_comes_from(tmp_path: Path) -> None:
    labels = image.labels("https://git.example.com/caliper", "abc", EPOCH)
    plan = image.Plan(tmp_path, "1.0", labels, EPOCH)
    build, push = image.commands(plan, "arm64", tmp_path / "image")
    assert f"--timestamp={EPOCH}" in build
    assert "--platform=linux/arm64" in build
    assert "--label=org.opencontainers.image.source=https://git.example.com/caliper" in build
    assert "--label=org.opencontainers.image.revision=abc" in build
    assert "--label=org.opencontainers.image.created=2023-11-14T22:13:20+00:00" in build
    assert push == ["buildah", "push", "caliper:1.0-arm64", f"oci:{tmp_path}/image:1.0"]


def test_the_archive_of_an_image_tells_nothing_of_this_machine(tmp_path: Path) -> None:
    for name, mode in (("one", 0o700), ("other", 0o755)):
        blobs = tmp_path / name / "blobs"
        blobs.mkdir(parents=True, mode=mode)
        for file in (blobs / "layer", tmp_path / name / "index.json"):
            file.write_text(file.name)
            file.chmod(mode)
            os.utime(file, (mode, mode))
        image.pack(tmp_path / name, tmp_path / f"{name}.tar", EPOCH)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "other.tar").read_bytes()
    with tarfile.open(tmp_path / "one.tar") as packed:
        assert packed.getnames() == ["blobs", "blobs/layer", "index.json"]
        assert {member.mtime for member in packed} == {EPOCH}


def test_an_image_that_cannot_be_built_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    plan = image.Plan(tmp_path, "1.0", {}, EPOCH)
    assert image.build(plan, tmp_path) == [
        "image for amd64: not built: no buildah",
        "image for arm64: not built: no buildah",
    ]
