import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import runs
from tests.fakes.sources import python_path

from caliper.core.errors import InvalidInput, NewerSchema, StoreUnavailable
from caliper.core.run import RunSpec
from caliper.local.directory import RunDirectory, find_run

SPEC = runs.spec(name="ours")


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return RunDirectory(tmp_path / "runs" / "ours")


@contextmanager
def kept(directory: RunDirectory, spec: RunSpec, asked: dict[str, Any]) -> Iterator[None]:
    """A run's hold on its directory, with its run.yaml written."""
    with directory.claim(spec):
        directory.write_spec(spec, {"config": asked})
        yield


def test_nothing_is_made_before_it_is_claimed(directory: RunDirectory) -> None:
    assert not directory.path.exists()
    with kept(directory, SPEC, {}):
        assert directory.path.is_dir()


ODD_NAMES = (
    "no: yaml", "- x", "# 名前\n\x85\u2028\t", "\ud800", "0x10", "null", "2026-02-30", "1e5",
    "'\"", "~",
)  # fmt: skip


@pytest.mark.parametrize(
    "spec",
    [
        SPEC,
        replace(SPEC, coverage_floor=1e-05, limit=3),
        *(replace(SPEC, name=name) for name in ODD_NAMES),
    ],
)
def test_the_spec_is_read_back(directory: RunDirectory, spec: RunSpec) -> None:
    with kept(directory, spec, {"concurrency": 4}):
        pass
    assert directory.read_spec() == spec
    assert directory.read_run()["fingerprint"] == spec.fingerprint


def test_the_same_run_may_come_back(directory: RunDirectory) -> None:
    for _ in range(2):
        with kept(directory, SPEC, {}):
            pass


def test_another_run_is_refused_and_changes_nothing(directory: RunDirectory) -> None:
    with kept(directory, SPEC, {}):
        pass
    before = (directory.path / "run.yaml").read_bytes()
    other = replace(SPEC, name="theirs")
    with (
        pytest.raises(InvalidInput, match=f"holds run {SPEC.run_id} .*not {other.run_id}.*--out"),
        kept(directory, other, {}),
    ):
        raise AssertionError("claimed")
    assert (directory.path / "run.yaml").read_bytes() == before


HOLD = """
import sys
from pathlib import Path
from caliper.local.directory import RunDirectory
from tests.fakes import runs
with RunDirectory(Path(sys.argv[1])).claim(runs.spec(name="ours")):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_two_processes_cannot_work_in_it_at_once(directory: RunDirectory) -> None:
    holding = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(directory.path)],
        env=os.environ | {"PYTHONPATH": python_path()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == "held\n"
        with (
            pytest.raises(InvalidInput, match="another process is working on this run"),
            kept(directory, SPEC, {}),
        ):
            raise AssertionError("claimed")
        # A process that dies without a word holds nothing any longer.
        holding.kill()
    with kept(directory, SPEC, {}):
        pass


def test_the_directory_of_a_newer_release_is_refused(directory: RunDirectory) -> None:
    with kept(directory, SPEC, {}):
        pass
    file = directory.path / "run.yaml"
    file.write_text(file.read_text().replace("schema: 1", "schema: 2", 1))
    with pytest.raises(NewerSchema, match=r"run\.yaml: schema: "):
        directory.read_spec()
    with pytest.raises(NewerSchema), kept(directory, SPEC, {}):
        raise AssertionError("claimed")


@pytest.mark.parametrize(
    "text", [b"", b"- x\n", b"\xff\n", b"a: [\n", b"schema: 1\n", b"schema: 1\nspec: 3\n"]
)
def test_what_is_no_run(directory: RunDirectory, text: bytes) -> None:
    directory.path.mkdir(parents=True)
    (directory.path / "run.yaml").write_bytes(text)
    with pytest.raises(InvalidInput, match=r"run\.yaml"):
        directory.read_spec()


def test_aliases_are_neither_read_nor_written(directory: RunDirectory) -> None:
    shared = ["a", "b"]
    with kept(directory, SPEC, {"one": shared, "other": shared}):
        pass
    file = directory.path / "run.yaml"
    assert directory.read_run()["config"] == {"one": shared, "other": shared}
    file.write_text(f"{file.read_text()}bomb: &a [1]\nagain: *a\n")
    with pytest.raises(InvalidInput, match=r"run\.yaml:\d+: not YAML: aliases such as \*a"):
        directory.read_spec()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(StoreUnavailable, match=r"cannot write the run directory .*--out"),
        RunDirectory(tmp_path / "file").claim(SPEC),
    ):
        raise AssertionError("claimed")


def test_captions_are_read_back(directory: RunDirectory) -> None:
    captions = {
        "capability": {"scene/1": "two\nlines\u2028\x85", "scene/2": "", "scene/3": "a\ud800b"},
        "captionqa": {"scene/1": "x" * 200_000},
    }
    directory.path.mkdir(parents=True)
    directory.write_captions(captions)
    assert directory.read_captions() == captions


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"benchmark": "x"}', b"\xff"])
def test_captions_that_cannot_be_read_name_the_line(directory: RunDirectory, line: bytes) -> None:
    directory.path.mkdir(parents=True)
    directory.write_captions({"captionqa": {"a": "b"}})
    with (directory.path / "captions.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(InvalidInput, match=r"captions\.jsonl:2: "):
        directory.read_captions()


@pytest.mark.parametrize(
    "name", ["blip", "a/b/../c", "../../etc", "", "...", "名" * 200, "🦊" * 90, "\ud800x", "a\0b"]
)
def test_default_names_are_names_of_one_folder(name: str, tmp_path: Path) -> None:
    path = RunDirectory.default(runs.spec(name=name)).path
    assert path.parent == Path("runs")
    assert path.name.endswith(f"-{runs.spec(name=name).run_id}")
    assert not path.name.startswith((".", "-"))
    (tmp_path / path.name).mkdir()


def test_runs_are_found_by_path_name_and_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = (RunDirectory.default(runs.spec(name=name)) for name in ("one", "two"))
    for directory, name in ((first, "one"), (second, "two")):
        with kept(directory, runs.spec(name=name), {}):
            pass
    for given in (str(first.path), first.path.name, first.path.name.split("-")[-1]):
        assert find_run(given).path.resolve() == first.path.resolve()
    with pytest.raises(InvalidInput, match=f"three: .*{first.path.name}, {second.path.name}"):
        find_run("three")


def test_no_runs_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="none yet"):
        find_run("three")


def test_how_it_went_is_kept_with_a_schema(directory: RunDirectory) -> None:
    directory.path.mkdir(parents=True)
    directory.write_execution({"seconds": 1.5})
    written = (directory.path / "execution.json").read_text()
    assert written == '{\n  "schema": 1,\n  "seconds": 1.5\n}\n'


def test_files_of_somebody_else_are_not_written_over(directory: RunDirectory) -> None:
    directory.path.mkdir(parents=True)
    theirs = directory.path / "captions.jsonl"
    theirs.write_text("mine")
    told = r"contains captions\.jsonl but no run; choose a new"
    with pytest.raises(InvalidInput, match=told), directory.claim(SPEC):
        pytest.fail("it must not be held")
    assert [entry.name for entry in directory.path.iterdir()] == ["captions.jsonl"]
    assert theirs.read_text() == "mine"


def test_an_empty_folder_and_what_a_killed_run_left_are_taken(directory: RunDirectory) -> None:
    (directory.path / "state" / "plan").mkdir(parents=True)
    (directory.path / ".DS_Store").touch()
    with kept(directory, SPEC, {}):
        pass
    assert directory.read_spec() == SPEC


def test_what_a_start_noted_of_a_run_that_cannot_be_planned_is_gone_with_it(
    directory: RunDirectory,
) -> None:
    with directory.claim(SPEC):
        state = directory.path / "state"
        (state / "run-index").mkdir()
        for name in ("started.json", "cancelled.json", "refused.json", "run-index/1-ab.json"):
            (state / name).touch()
    assert not directory.path.exists()


def test_what_is_not_a_note_of_ours_stays(directory: RunDirectory) -> None:
    theirs = directory.path / "state" / "mine.txt"
    theirs.parent.mkdir(parents=True)
    theirs.touch()
    with directory.claim(SPEC):
        pass
    assert [entry.name for entry in theirs.parent.iterdir()] == ["mine.txt"]
