# ruff: noqa: INP001 - a standalone script
"""Make a release of the commit that is checked out, in dist/release or --out.

Made are the wheel, the manifests, the descriptors of the protos, a bill of materials, the notices
of others, the digests of images as far as registries tell them, and the image of Caliper where
buildah can build it. RELEASE.txt says what is missing and why. SHA256SUMS has all of them. Times
are SOURCE_DATE_EPOCH, else the commit's: the same commit gives the same bytes. --offline asks no
registry and builds no image, whose parts are downloaded. --build-option goes to `buildah build`:
--build-option=--secret=id=pip.conf,src=FILE names a mirror of packages.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from releases import image, registries
from releases.bill import bill, pins
from releases.notices import notices

ROOT = Path(__file__).resolve().parents[1]
_MANIFESTS = ("deploy", "LICENSE")
_IMAGE = re.compile(r"^ *-? *image: (\S+/\S+:\S+)$", re.MULTILINE)


def git(*words: str) -> bytes:
    """What git says of this checkout. Raises CalledProcessError, or OSError without git."""
    command = ["git", "-C", str(ROOT), *words]
    return subprocess.run(command, check=True, capture_output=True).stdout  # noqa: S603 - ours


def origin() -> str:
    """Where this checkout was cloned from; empty if nowhere."""
    try:
        return git("remote", "get-url", "origin").decode().strip()
    except subprocess.CalledProcessError:
        return ""


def images(deploy: Path) -> list[str]:
    """The images of others that the manifests name, with their registries."""
    texts = (file.read_text("utf-8") for file in deploy.rglob("*.yaml"))
    return sorted({found for text in texts for found in _IMAGE.findall(text)})


def _digests(found: Iterable[str], *, offline: bool) -> Iterator[str]:
    for each in found:
        try:
            yield f"{each}  # not asked for" if offline else registries.pinned(each)
        except (OSError, ValueError, KeyError) as error:
            yield f"{each}  # not resolved: {type(error).__name__}"


def make(out: Path, epoch: int, options: Sequence[str] = (), *, offline: bool) -> None:
    """Write all files of the release to `out`, anew. `epoch` is in seconds, `options` are those of
    the image's build.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with TemporaryDirectory(prefix="caliper-release-") as name:
        source = Path(name)
        with tarfile.open(fileobj=io.BytesIO(git("archive", "HEAD"))) as tree:
            tree.extractall(source)  # noqa: S202 - our own history
        version = _version(source)
        lock = (source / "requirements.lock").read_text("utf-8")
        _wheel(source, out, epoch)
        manifests = git("archive", f"--prefix=caliper-{version}/", "HEAD", *_MANIFESTS)
        packed = gzip.compress(manifests, mtime=epoch)
        (out / f"caliper-{version}-manifests.tar.gz").write_bytes(packed)
        shutil.copy(source / "proto" / "descriptors.binpb", out / f"caliper-{version}.binpb")
        (out / f"caliper-{version}.cdx.json").write_text(bill(lock, version, epoch), "utf-8")
        (out / "THIRD-PARTY-NOTICES.txt").write_text(notices(pins(lock)), "utf-8")
        digests = list(_digests(images(source / "deploy"), offline=offline))
        (out / "images.txt").write_text("\n".join(digests) + "\n", "utf-8")
        revision = git("rev-parse", "HEAD").decode().strip()
        labels = image.labels(origin(), revision, epoch)
        plan = image.Plan(source, version, labels, epoch, options)
        built = ["image: not asked for"] if offline else image.build(plan, out)
    told = [f"Caliper {version}, commit {revision}", *built]
    told += [each for each in digests if "#" in each]
    (out / "RELEASE.txt").write_text("\n".join(told) + "\n", "utf-8")
    _sums(out)


def _version(source: Path) -> str:
    text = (source / "src" / "caliper" / "version.py").read_text("utf-8")
    (found,) = re.findall(r'^__version__ = "(.+)"', text, re.MULTILINE)
    return str(found)


def _wheel(source: Path, out: Path, epoch: int) -> None:
    words = ["-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    subprocess.run(  # noqa: S603 - the words are ours
        [sys.executable, *words],
        cwd=source,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _sums(out: Path) -> None:
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(out.iterdir())
    ]
    (out / "SHA256SUMS").write_text("".join(lines), "utf-8")


def main() -> None:
    """Make the release, and print what is missing."""
    parser = argparse.ArgumentParser(description="Make a release of this commit.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "release")
    parser.add_argument("--offline", action="store_true")
    parser.add_argument("--build-option", action="append", default=[])
    chosen = parser.parse_args()
    committed = git("log", "-1", "--format=%ct").decode()
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", committed))
    make(chosen.out.resolve(), epoch, chosen.build_option, offline=chosen.offline)
    sys.stdout.write((chosen.out / "RELEASE.txt").read_text("utf-8"))


if __name__ == "__main__":
    main()
