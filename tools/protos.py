# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""Generate src/caliper/api and proto/descriptors.binpb from the protos.

`--check` writes nothing and says what is not up to date. `--breaking` writes nothing and says
what the protos break for those who speak the landed contract. That is proto/descriptors.binpb as
the main line of the git history has it: where this branch left it, and on the main line itself
the last commit and the one before, so that a break does not pass by being committed together
with its descriptors. `--against` names another descriptor set. Where there is no git history (in
a tarball, or a clone of one commit) the file beside the protos is compared with, and that is said.
Without either, what breaks the landed contract is refused before anything is written.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import grpc_tools
from breaking import breaks
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

ROOT = Path(__file__).parents[1]
PROTOS = ROOT / "proto"
CODE = Path("src", "caliper", "api")
LANDED = Path("proto", "descriptors.binpb")
MAIN_LINES = ("origin/HEAD", "origin/main", "main")
"""What the main line may be called, the most trustworthy first."""
_PACKAGE = '"""Generated from proto/ by `make proto`; never edited."""\n'


def generate(folder: Path) -> bool:
    """Write the code and the descriptor set below `folder`, where the repository has them.

    False when the compiler refuses the protos; it has said why.
    """
    source, descriptors = folder / "src", folder / LANDED
    source.mkdir(parents=True)
    descriptors.parent.mkdir(parents=True)
    files = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    arguments = [
        "protoc",
        f"--proto_path={PROTOS}",
        f"--proto_path={Path(grpc_tools.__file__).parent / '_proto'}",
        f"--python_out={source}",
        f"--pyi_out={source}",
        f"--grpc_python_out={source}",
        f"--descriptor_set_out={descriptors}",
        *files,
    ]
    if protoc.main(arguments) != 0:
        return False
    for file in _read(descriptors).file:
        if not file.service:
            # The plugin writes an empty module for a file that has no service.
            (source / file.name).with_name(f"{Path(file.name).stem}_pb2_grpc.py").unlink()
    for package in sorted({folder / CODE, *_folders(folder / CODE)}):
        (package / "__init__.py").write_text(_PACKAGE, "utf-8")
    return True


def _folders(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_dir())


def _read(file: Path) -> FileDescriptorSet:
    return FileDescriptorSet.FromString(file.read_bytes())


def stale(folder: Path) -> list[str]:
    """Which generated files of the repository are not those below `folder`."""
    written, kept = _files(folder), _files(ROOT)
    return sorted(
        name for name in written.keys() | kept.keys() if written.get(name) != kept.get(name)
    )


def _files(folder: Path) -> dict[str, bytes]:
    found = [*(folder / CODE).rglob("*.py"), *(folder / CODE).rglob("*.pyi"), folder / LANDED]
    return {str(file.relative_to(folder)): file.read_bytes() for file in found if file.exists()}


def write(folder: Path) -> None:
    """Put what is below `folder` in the repository's place."""
    shutil.rmtree(ROOT / CODE, ignore_errors=True)
    shutil.copytree(folder / CODE, ROOT / CODE)
    shutil.copyfile(folder / LANDED, ROOT / LANDED)


def main() -> int:
    """Write, or check; 1 when something is stale, breaks or cannot be compiled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--breaking", action="store_true")
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, problems = Path(name), []
        if not generate(folder):
            return 1
        if options.check:
            problems += [
                f"{name} is not what the protos say; run `make proto`" for name in stale(folder)
            ]
        if options.breaking or not options.check:
            problems += _broken(_landed(options.against), folder)
        if not problems and not (options.check or options.breaking):
            write(folder)
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


def _broken(landed: Iterable[bytes], folder: Path) -> list[str]:
    """What breaks the landed contract; nothing does before the first was landed."""
    new = _read(folder / LANDED)
    found = [breaks(FileDescriptorSet.FromString(old), new) for old in landed]
    return list(dict.fromkeys(problem for problems in found for problem in problems))


def _landed(against: Path | None) -> list[bytes]:
    """The descriptor sets that nothing may break."""
    if against is not None:
        return [against.read_bytes()]
    commits = _landed_commits()
    if not commits:
        print(f"no landed commit in reach: compared with {LANDED} as it lies here")  # noqa: T201 - told
        return [(ROOT / LANDED).read_bytes()] if (ROOT / LANDED).exists() else []
    found = [_git("show", f"{commit}:{LANDED.as_posix()}") for commit in commits]
    return [data for data in found if data is not None]


def _landed_commits() -> list[str]:
    """The last commits of the main line that this work stands on; none where the history does
    not reach back to one, as in a clone of a single commit.
    """
    top = _told("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != ROOT.resolve():
        return []
    head = _told("rev-parse", "--verify", "HEAD")
    bases = (_told("merge-base", "HEAD", name) for name in MAIN_LINES)
    base = next((found for found in bases if found), head)
    if base != head:
        return [base] if base else []
    before = _told("rev-parse", "--verify", "--quiet", "HEAD^")
    return [head, before] if head and before else []


def _told(*arguments: str) -> str | None:
    said = _git(*arguments)
    return None if said is None else said.decode().strip()


def _git(*arguments: str) -> bytes | None:
    """What git says; None where it refuses, or is not there."""
    try:
        done = subprocess.run(  # noqa: S603 - the arguments are ours
            ["git", "-C", str(ROOT), *arguments],  # noqa: S607 - the git that made the checkout
            capture_output=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
