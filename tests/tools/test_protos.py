"""The generated code is what the protos say, and a break is refused before anything is written."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.sources import ROOT

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
    done = run(ROOT, "--check")
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
    done = run(copy, "--check")
    assert done.returncode == 1
    assert [line.split(" ")[0] for line in done.stderr.splitlines()] == [
        "proto/descriptors.binpb",
        "src/caliper/api/types/v1/old_pb2.py",
        "src/caliper/api/types/v1/outcome_pb2.py",
        "src/caliper/api/types/v1/outcome_pb2.pyi",
    ]
    assert run(copy).returncode == 0
    assert run(copy, "--check").returncode == 0


# Each breaks old bytes or old callers in a way of its own.
BREAKS = [
    ("int64 numerator = 1;", "int64 top = 1;", 'name from "numerator" to "top"'),
    ("uint64 denominator = 2;", "int64 denominator = 2;", 'type from "uint64" to "int64"'),
    ("optional double low = 3;", "double low = 3;", 'low" on message "Estimate" changed'),
    ("repeated string media = 7;", "string media = 7;", 'media" on message "VerdictRow" changed'),
    ("bool repaired = 3;", "bool repaired = 9;", '"3" with name "repaired"'),
    ("REASON_REFUSED = 6;", "REASON_REFUSED = 66;", '"6" on enum "Reason"'),
    ("Score score = 2;", "// Moved.", '"2" with name "score" on message "Verdict"'),
    ("message Coverage {", "message Covered {", '"Coverage" was deleted'),
]


def test_every_break_is_named_and_nothing_is_written(copy: Path) -> None:
    for old, new, _ in BREAKS:
        edit(copy, old, new)
    file = copy / OUTCOME
    file.write_text(file.read_text("utf-8").replace(" Coverage coverage", " Covered coverage"))
    service = copy / "proto/caliper/api/evaluate/v1/evaluate.proto"
    text = service.read_text("utf-8")
    text = text.replace("returns (stream WatchEval", "returns (WatchEval")
    text = re.sub("rpc CancelEvaluation.*;", "", text).replace(
        "types.v1.Coverage", "types.v1.Covered"
    )
    service.write_text(text, "utf-8")
    before = files(copy)
    for arguments in ((), ("--check",)):
        done = run(copy, *arguments)
        assert done.returncode == 1
        for _, _, problem in BREAKS:
            assert problem in done.stderr
        assert "from server streaming to server unary" in done.stderr
        assert 'present RPC "CancelEvaluation"' in done.stderr
        assert files(copy) == before


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


def commit_break(folder: Path) -> None:
    edit(folder, "int64 numerator = 1;", "int64 top = 1;")
    git(folder, "commit", "--all", "--message=break")


@pytest.fixture
def landed(copy: Path) -> Path:
    """The copy in a history of its own, with one commit on its main line."""
    (copy / ".gitignore").write_text("__pycache__\n", "utf-8")
    git(copy, "init", "--initial-branch=main")
    git(copy, "add", ".")
    git(copy, "commit", "--message=landed")
    return copy


@pytest.mark.parametrize("branch", ["main", "work"])
def test_a_break_that_was_committed_is_refused(landed: Path, branch: str) -> None:
    if branch != "main":
        git(landed, "switch", "--create", branch)
    assert run(landed, "--check").returncode == 0
    commit_break(landed)
    if branch != "main":
        git(landed, "commit", "--allow-empty", "--message=later")
    done = run(landed, "--check")
    assert done.returncode == 1
    assert 'name from "numerator" to "top"' in done.stderr
    assert done.stdout == ""


def test_a_merge_of_a_break_is_refused(landed: Path) -> None:
    git(landed, "switch", "--create", "work")
    commit_break(landed)
    git(landed, "switch", "main")
    git(landed, "merge", "--no-ff", "work", "--message=merge")
    assert run(landed, "--check").returncode == 1


def test_without_a_history_the_file_beside_is_compared_with_and_that_is_said(copy: Path) -> None:
    done = run(copy, "--check")
    assert (done.returncode, done.stderr) == (0, "")
    assert "no commit of main found: compared with proto/descriptors.binpb" in done.stdout


def test_protos_that_cannot_be_compiled_change_nothing(copy: Path) -> None:
    before = files(copy)
    edit(copy, "int64 numerator = 1;", "int64 numerator = 2;")
    done = run(copy)
    assert done.returncode == 1
    assert "outcome.proto" in done.stderr
    assert "Traceback" not in done.stderr
    assert files(copy) == before
