"""The generated code is what the protos say, and a break is refused before anything is written."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DECLARED = re.compile(r"\s*(message|enum|service|rpc)\s|[^/]*\s=\s\d+;")
PARTS = ("tools", "proto", "src/caliper/api")
OUTCOME = Path("proto/caliper/api/types/v1/outcome.proto")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The scripts, the protos and what was generated, away from the committed ones."""
    for part in PARTS:
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(folder / "tools" / "protos.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def edit(folder: Path, old: str, new: str) -> None:
    file = folder / OUTCOME
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def files(folder: Path) -> dict[str, bytes]:
    places = [folder / "src", folder / "proto" / "descriptors.binpb"]
    found = [file for place in places for file in (place, *place.rglob("*")) if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in found}


def test_what_is_committed_is_up_to_date_and_breaks_nothing() -> None:
    done = run(ROOT, "--check", "--breaking")
    assert (done.returncode, done.stderr) == (0, "")


def test_everything_in_the_protos_has_a_comment() -> None:
    bare, seen = [], 0
    for file in sorted((ROOT / "proto").rglob("*.proto")):
        before = ""
        for line in file.read_text("utf-8").splitlines():
            if DECLARED.match(line) and "_UNSPECIFIED = 0;" not in line:
                seen += 1
                if not before.lstrip().startswith("//"):
                    bare.append(f"{file.name}: {line.strip()}")
            before = line
    assert seen > 200
    assert bare == []


def test_generating_again_changes_no_byte(copy: Path) -> None:
    before = files(copy)
    assert run(copy).returncode == 0
    assert files(copy) == before


def test_stale_and_foreign_files_are_named(copy: Path) -> None:
    edit(copy, "// Numerator; carries the sign.", "int64 added = 77;\n  // Carries the sign.")
    (copy / "src/caliper/api/types/v1/old_pb2.py").write_text("", "utf-8")
    done = run(copy, "--check", "--breaking")
    assert done.returncode == 1
    assert [line.split(" ")[0] for line in done.stderr.splitlines()] == [
        "proto/descriptors.binpb",
        "src/caliper/api/types/v1/old_pb2.py",
        "src/caliper/api/types/v1/outcome_pb2.py",
        "src/caliper/api/types/v1/outcome_pb2.pyi",
    ]
    assert run(copy).returncode == 0
    assert run(copy, "--check", "--breaking").returncode == 0


def test_a_break_is_named_and_nothing_is_written(copy: Path) -> None:
    before = files(copy)
    edit(copy, "int64 numerator = 1;", "int64 top = 1;")
    for arguments in ((), ("--breaking",)):
        done = run(copy, *arguments)
        assert done.returncode == 1
        assert "Score.numerator = 1: its name was numerator, now top" in done.stderr
        assert files(copy) == before


def test_the_contract_of_another_branch_can_be_compared_with(copy: Path) -> None:
    landed = shutil.copy(copy / "proto" / "descriptors.binpb", copy / "landed.binpb")
    edit(copy, "int64 numerator = 1;", "int64 top = 1;")
    (copy / "proto" / "descriptors.binpb").unlink()
    assert run(copy).returncode == 0
    done = run(copy, "--breaking", "--against", str(landed))
    assert done.returncode == 1
    assert "numerator" in done.stderr


def test_protos_that_cannot_be_compiled_change_nothing(copy: Path) -> None:
    before = files(copy)
    edit(copy, "int64 numerator = 1;", "int64 numerator = 2;")
    done = run(copy)
    assert done.returncode == 1
    assert "outcome.proto" in done.stderr
    assert "Traceback" not in done.stderr
    assert files(copy) == before
