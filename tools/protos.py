# ruff: noqa: INP001 - a script beside the package, imported by nobody
"""Generate src/caliper/api and proto/descriptors.binpb from the protos.

`--check` writes nothing and says what is not up to date. `--breaking` writes nothing and says
what the protos break for those who speak the contract of proto/descriptors.binpb, the one that
was landed last, or of the descriptor set that `--against` names (that of the main branch, say).
Without either, what breaks the landed contract is refused before anything is written.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import grpc_tools
from breaking import breaks
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

ROOT = Path(__file__).parents[1]
PROTOS = ROOT / "proto"
CODE = Path("src", "caliper", "api")
LANDED = Path("proto", "descriptors.binpb")
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
    parser.add_argument("--against", type=Path, default=ROOT / LANDED)
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
            problems += _broken(options.against, folder)
        if not problems and not (options.check or options.breaking):
            write(folder)
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return 1 if problems else 0


def _broken(landed: Path, folder: Path) -> list[str]:
    """What breaks the landed contract; nothing does before the first was landed."""
    return breaks(_read(landed), _read(folder / LANDED)) if landed.exists() else []


if __name__ == "__main__":
    sys.exit(main())
