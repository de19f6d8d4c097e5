"""Messages between releases: what a release wrote stays readable, and what this one writes is
readable to the one before. tests/golden/stream has what each release wrote, captured once by
`python -m tests.fakes.stream_messages FOLDER`.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.message_files import read_all, write
from tests.fakes.releases import PREVIOUS, THIS, Release, code, previous
from tests.fakes.sources import ROOT
from tests.fakes.stream_messages import MESSAGES
from tests.servers.summary import RELEASES

from caliper.core.messages import CaptionJob, ExamineJob, PlanMade, StreamMessage
from caliper.core.quotas import DayQuota
from caliper.core.terms import TokenCap

GOLDEN = ROOT / "tests" / "golden" / "stream"
CAP = TokenCap(2, 100_000, DayQuota("red", 0, 5))


def run(release: Release, *arguments: object) -> str:
    """Run Python on the code of a release; gives what it printed."""
    environment = os.environ | code(release.tree)
    environment["PYTHONPATH"] += os.pathsep + str(ROOT)
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def with_all_that_is_new(message: StreamMessage) -> StreamMessage:
    """The message with every field that the release before does not know."""
    if isinstance(message, CaptionJob | ExamineJob):
        return replace(message, cap=CAP)
    return replace(message, asked=12) if isinstance(message, PlanMade) else message


def as_before(message: StreamMessage) -> StreamMessage:
    if isinstance(message, CaptionJob | ExamineJob):
        return replace(message, cap=None)
    return replace(message, asked=None) if isinstance(message, PlanMade) else message


@pytest.mark.parametrize("folder", sorted(GOLDEN.iterdir()), ids=lambda folder: folder.name)
def test_what_a_release_wrote_has_the_values_that_it_had(folder: Path) -> None:
    assert read_all(folder) == MESSAGES


def test_the_release_before_is_among_them() -> None:
    assert (GOLDEN / PREVIOUS[:12]).is_dir()


def test_the_release_before_reads_what_this_one_writes(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    before = previous(tmp_path / "before")
    record_property(RELEASES, f"{before.name} and {THIS.name}")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    newer = {name: with_all_that_is_new(message) for name, message in MESSAGES.items()}
    assert newer != MESSAGES
    write(ours, newer)
    run(before, "-m", "tests.fakes.message_files", ours, theirs)
    understood = read_all(theirs)
    assert {name: as_before(message) for name, message in understood.items()} == MESSAGES


def test_a_release_is_run_from_its_own_checkout(tmp_path: Path) -> None:
    before = previous(tmp_path)
    asked = "import caliper, services; print(caliper.__file__, services.__file__)"
    assert run(before, "-c", asked).split() == [
        str(tmp_path / "src" / "caliper" / "__init__.py"),
        str(tmp_path / "services" / "__init__.py"),
    ]


def test_where_there_is_no_history_this_tree_is_taken_twice(tmp_path: Path) -> None:
    before = previous(tmp_path, commit="0" * 40)
    assert before.name == "a second checkout of this tree, for 000000000000 is not here"
    assert before.version == THIS.version
    assert run(before, "-c", "import caliper; print(caliper.__file__)").startswith(str(tmp_path))


def test_a_report_names_the_release_that_its_run_was_started_with(tmp_path: Path) -> None:
    (tmp_path / "src" / "caliper").mkdir(parents=True)
    (tmp_path / "src" / "caliper" / "version.py").write_text('__version__ = "0.0.9"\n', "utf-8")
    ours = f'{{"version": "{THIS.version}"}}'.encode()
    assert Release("older", tmp_path).signed(ours) == b'{"version": "0.0.9"}'
