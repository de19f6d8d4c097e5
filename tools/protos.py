# ruff: noqa: INP001 - a standalone script
"""Generate src/caliper/api and proto/descriptors.binpb from the protos.

`--check` writes nothing and reports what is not up to date. Both refuse protos that break the
landed contract, by buf's default rules: everything keeps its file, name, number and type. The
landed contract is that of the main line in the git history: the commit where this branch left it;
on the main line itself the last two commits, so that committing a break does not hide it. Without
git history (in a tarball, or a clone of one commit) it is compared with proto/descriptors.binpb,
with a message.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

ROOT = Path(__file__).parents[1]
PROTOS = ROOT / "proto"
CODE = Path("src", "caliper", "api")
LANDED = Path("proto", "descriptors.binpb")
BUF = Path(sys.executable).with_name("buf")
MAIN_LINES = ("origin/HEAD", "origin/main", "main")
"""Possible names of the main line, the most reliable first."""
_PACKAGE = '"""Generated from proto/ by `make proto`; never edited."""\n'


def generate(folder: Path) -> bool:
    """Write the code and the descriptor set below `folder`, with the paths of the repository.

    False if the compiler rejects the protos; it has printed why.
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
        "--include_imports",
        f"--descriptor_set_out={descriptors}",
        *files,
    ]
    if protoc.main(arguments) != 0:
        return False
    for package in sorted({folder / CODE, *_folders(folder / CODE)}):
        (package / "__init__.py").write_text(_PACKAGE, "utf-8")
    return True


def _folders(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_dir())


def stale(folder: Path) -> list[str]:
    """The generated files of the repository that differ from those below `folder`."""
    fresh, current = _files(folder), _files(ROOT)
    return sorted(
        name for name in fresh.keys() | current.keys() if fresh.get(name) != current.get(name)
    )


def _files(folder: Path) -> dict[str, bytes]:
    paths = [*(folder / CODE).rglob("*.py"), *(folder / CODE).rglob("*.pyi"), folder / LANDED]
    return {str(file.relative_to(folder)): file.read_bytes() for file in paths if file.exists()}


def write(folder: Path) -> None:
    """Replace the generated files of the repository with those below `folder`."""
    shutil.rmtree(ROOT / CODE, ignore_errors=True)
    shutil.copytree(folder / CODE, ROOT / CODE)
    shutil.copyfile(folder / LANDED, ROOT / LANDED)


def broken() -> str:
    """The breaking changes of the landed contract, one per line; empty if there are none."""
    commits = _landed_commits()
    if not commits:
        print(f"no commit of main found: compared with {LANDED} in this tree")  # noqa: T201 - for the terminal
        return _breaks(str(ROOT / LANDED)) if (ROOT / LANDED).exists() else ""
    trees = [_git("archive", commit, "proto") for commit in commits]
    return "".join(_breaks("-#format=tar,subdir=proto", tree) for tree in trees)


def _breaks(landed: str, tree: bytes | None = None) -> str:
    process = subprocess.run(  # noqa: S603 - the arguments are ours
        [BUF, "breaking", PROTOS, "--against", landed],
        input=tree,
        capture_output=True,
        check=False,
    )
    return (process.stdout + process.stderr).decode() if process.returncode else ""


def _landed_commits() -> list[str]:
    """The last commits of the main line that HEAD is based on; empty if the history has none, as in
    a clone of a single commit.
    """
    top = _git_text("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != ROOT.resolve():
        return []
    head = _git_text("rev-parse", "--verify", "HEAD")
    bases = (_git_text("merge-base", "HEAD", name) for name in MAIN_LINES)
    base = next((commit for commit in bases if commit), head)
    if base != head:
        return [base] if base else []
    before = _git_text("rev-parse", "--verify", "--quiet", "HEAD^")
    return [head, before] if head and before else []


def _git_text(*arguments: str) -> str | None:
    output = _git(*arguments)
    return None if output is None else output.decode().strip()


def _git(*arguments: str) -> bytes | None:
    """The output of git; None if it fails or is not installed."""
    try:
        process = subprocess.run(  # noqa: S603 - the arguments are ours
            ["git", "-C", str(ROOT), *arguments],  # noqa: S607 - the git that made the checkout
            capture_output=True,
            check=False,
        )
    except OSError:
        return None
    return process.stdout if process.returncode == 0 else None


def main(arguments: list[str]) -> int:
    """Write or check. Returns 1 if something is stale, breaking or cannot be compiled."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: protos.py [--check]\n")
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not generate(folder):
            return 1
        problems = broken()
        if arguments:
            problems += "".join(
                f"{name} is not what the protos say; run `make proto`\n" for name in stale(folder)
            )
        elif not problems:
            write(folder)
    sys.stderr.write(problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
