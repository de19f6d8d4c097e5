"""The image of a release, for each processor that this machine can build for."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

# By the name that images have for a processor: that of the kernel.
_PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
_EMULATION = Path("/proc/sys/fs/binfmt_misc")


@dataclass(frozen=True, slots=True)
class Plan:
    """The checkout to build, its version, labels, the time (seconds) that all files get, and more
    options of `buildah build`.
    """

    source: Path
    version: str
    labels: Mapping[str, str]
    epoch: int
    options: Sequence[str] = ()


def labels(origin: str, revision: str, epoch: int) -> dict[str, str]:
    """Where an image comes from, by the annotations of OCI; what is empty is left out."""
    created = datetime.fromtimestamp(epoch, UTC).isoformat()
    known = {"source": origin, "revision": revision, "created": created}
    return {f"org.opencontainers.image.{key}": value for key, value in known.items() if value}


def build(plan: Plan, out: Path) -> list[str]:
    """Write an OCI archive for each processor to `out`. Returns a line for each: the archive, or
    why there is none.
    """
    return [f"image for {name}: {_built(plan, name, out)}" for name in _PROCESSORS]


def commands(plan: Plan, processor: str, layout: Path) -> Iterator[list[str]]:
    """What builds the image, and writes it to a folder in the layout of OCI."""
    name = f"caliper:{plan.version}-{processor}"
    given = [f"--label={key}={value}" for key, value in plan.labels.items()]
    file = str(plan.source / "docker" / "Dockerfile")
    # By its name: an image of a stage without one tells the number of the stage before it.
    how = ["--isolation=chroot", "--format=docker", "--target=caliper"]
    how += [f"--timestamp={plan.epoch}"]
    what = [f"--platform=linux/{processor}", f"--file={file}", f"--tag={name}"]
    yield ["buildah", "build", *how, *what, *given, *plan.options, str(plan.source)]
    yield ["buildah", "push", name, f"oci:{layout}:{plan.version}"]


def lacks(processor: str) -> str:
    """Why this machine cannot build for it; empty if it can."""
    if shutil.which("buildah") is None:
        return "no buildah"
    kernel = _PROCESSORS[processor]
    if platform.machine() != kernel and not (_EMULATION / f"qemu-{kernel}").exists():
        return f"no emulation of {kernel}"
    return ""


def _built(plan: Plan, processor: str, out: Path) -> str:
    if missing := lacks(processor):
        return f"not built: {missing}"
    archive = out / f"caliper-{plan.version}-{processor}.tar"
    with TemporaryDirectory(prefix="caliper-image-") as name:
        for command in commands(plan, processor, Path(name)):
            done = subprocess.run(  # noqa: S603 - the words are ours
                command, env=os.environ, capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                last = done.stderr.strip().splitlines()[-1:]
                return f"not built: {' '.join(command[:2])} said {last}"
        pack(Path(name), archive, plan.epoch)
    return archive.name


def pack(layout: Path, archive: Path, epoch: int) -> None:
    """Archive a folder in the layout of OCI, with one time (seconds) and owner for all files."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime, member.mode = epoch, 0o755 if member.isdir() else 0o644
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(archive, "w") as packed:
        for each in sorted(layout.iterdir()):
            packed.add(each, each.name, filter=plain)
