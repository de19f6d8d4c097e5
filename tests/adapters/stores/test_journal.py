"""The journal of verdicts: what a crash or a full disk leaves can be read and gone on with."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fakes.sources import python_path

from caliper.adapters.stores.journal import Journal
from caliper.core.errors import InvalidInput, NewerSchema, StoreUnavailable
from caliper.core.outcome import Evidence, Reason, Scored, Unscored, Verdict

RUN = "0123456789abcdef"
TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
VERDICTS = st.builds(
    Verdict,
    st.integers(0, 99),
    st.builds(Scored, st.fractions()) | st.builds(Unscored, st.sampled_from(Reason)),
    st.builds(Evidence, TEXTS, TEXTS),
)


def verdict(index: int, reply: str = "") -> Verdict:
    return Verdict(index, Scored(Fraction(1, 3)), Evidence(reply))


def descriptor(path: Path) -> int:
    """The one by which this process has the file open."""
    links = [link for link in Path("/proc/self/fd").iterdir() if link.exists()]
    (found,) = (int(link.name) for link in links if link.samefile(path))
    return found


def held(path: Path) -> list[Verdict]:
    with Journal(path, RUN) as journal:
        return [found for _, found in journal]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.jsonl"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(batches=st.lists(st.lists(VERDICTS, max_size=3), max_size=3))
def test_what_was_appended_is_read_back(tmp_path: Path, batches: list[list[Verdict]]) -> None:
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    expected = [found for batch in batches for found in batch]
    with Journal(path, RUN) as journal:
        places = [place for batch in batches for place in journal.append(batch)]
        assert [journal.read(place) for place in places] == expected
        assert list(journal) == list(zip(places, expected, strict=True))
    with Journal(path, RUN) as again:
        assert list(again) == list(zip(places, expected, strict=True))
        assert [again.read(place) for place in reversed(places)] == expected[::-1]


def test_a_new_journal_is_empty_and_keeps_its_header(path: Path) -> None:
    assert held(path) == []
    before = path.read_bytes()
    assert json.loads(before) == {"schema": 1, "run": RUN}
    assert held(path) == []
    assert path.read_bytes() == before


@pytest.mark.parametrize("size", [4000, 4095, 4096, 5000, 70_000, 300_000])
def test_long_lines(path: Path, size: int) -> None:
    long = verdict(0, "é" * size)
    with Journal(path, RUN) as journal:
        (first, second) = journal.append([long, verdict(1)])
        assert journal.read(first) == long
        assert journal.read(second) == verdict(1)
    with path.open("ab") as file:
        file.write(b"x" * size)
    assert held(path) == [long, verdict(1)]


def test_wherever_a_crash_cuts_the_last_line_it_does_not_count(path: Path) -> None:
    with Journal(path, RUN) as journal:
        journal.append([verdict(0), verdict(1, "last")])
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(last, len(whole)):
        path.write_bytes(whole[:end])
        assert held(path) == [verdict(0)]


def test_appending_after_a_torn_line(path: Path) -> None:
    with Journal(path, RUN) as journal:
        journal.append([verdict(0)])
    with path.open("ab") as file:
        file.write(b'{"index":1,"sco')
    with Journal(path, RUN) as journal:
        assert [found for _, found in journal] == [verdict(0)]
        (place,) = journal.append([verdict(2)])
        assert journal.read(place) == verdict(2)
        assert [found for _, found in journal] == [verdict(0), verdict(2)]
    assert held(path) == [verdict(0), verdict(2)]
    assert b"sco\n" not in path.read_bytes()


@pytest.mark.parametrize("torn", [b"", b"{", b'{"run":"0123456789abcdef","schema":1}'])
def test_a_header_that_a_crash_cut_off_is_written_again(path: Path, torn: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(torn)
    with Journal(path, RUN) as journal:
        journal.append([verdict(0)])
    assert held(path) == [verdict(0)]


def test_reading_leaves_what_another_process_is_writing_alone(path: Path) -> None:
    with Journal(path, RUN) as writing:
        writing.append([verdict(0)])
        with path.open("ab") as half:
            half.write(b'{"index":1,')
        assert held(path) == [verdict(0)]
        with path.open("ab") as rest:
            rest.write(b'"score":"1/3"}\n')
    assert held(path) == [verdict(0), verdict(1)]


def test_the_journal_of_another_run_is_refused_and_left_as_it_is(path: Path) -> None:
    with Journal(path, RUN) as journal:
        journal.append([verdict(0)])
    with path.open("ab") as file:
        file.write(b"torn")
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match=f"the journal of run {RUN}, not of other"):
        Journal(path, "other")
    assert path.read_bytes() == before


def test_a_newer_journal_is_refused_and_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    before = b'{"schema":2,"who":"knows"}\n{"half'
    path.write_bytes(before)
    with pytest.raises(NewerSchema, match="newer Caliper"):
        Journal(path, RUN)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "header", [b"rubbish\n", b"[]\n", b"null\n", b"\xff\xfe\n", b"{}\n", b'{"schema":1}\n', b"\n"]
)
def test_what_is_no_journal(path: Path, header: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(header)
    with pytest.raises(InvalidInput, match=r"journal\.jsonl"):
        Journal(path, RUN)
    assert path.read_bytes() == header


@pytest.mark.parametrize("line", [b"rubbish", b"{}", b"[]", b'{"index":0,"score":"1/0"}', b""])
def test_a_line_in_the_middle_that_is_no_verdict_is_named(path: Path, line: bytes) -> None:
    with Journal(path, RUN) as journal:
        journal.append([verdict(0)])
    with path.open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(InvalidInput, match=r"journal\.jsonl:3: this line holds no verdict"):
        held(path)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable):
        Journal(tmp_path / "file" / "journal.jsonl", RUN)
    with pytest.raises(StoreUnavailable):
        Journal(tmp_path, RUN)


FILL_UP = """
import resource, sys
from fractions import Fraction
from pathlib import Path
from caliper.adapters.stores.journal import Journal
from caliper.core.errors import StoreFull
from caliper.core.outcome import Evidence, Scored, Verdict

def verdict(index, reply=""):
    return Verdict(index, Scored(Fraction(1, 3)), Evidence(reply))

journal = Journal(Path(sys.argv[1]), sys.argv[2])
journal.append([verdict(0)])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
for _ in range(2):
    try:
        journal.append([verdict(1), verdict(2, "x" * 2000)])
    except StoreFull:
        print("full", [found.index for _, found in journal])
journal.append([verdict(3)])
print("room", [found.index for _, found in journal])
"""


def test_a_full_disk_is_told_and_the_journal_stays_readable(path: Path) -> None:
    # The size limit of a process stands in for the end of a disk: a write comes up short.
    done = subprocess.run(
        [sys.executable, "-c", FILL_UP, str(path), RUN],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.splitlines() == ["full [0]", "full [0]", "room [0, 3]"], done.stderr
    assert held(path) == [verdict(0), verdict(3)]


def test_no_room_for_the_header(path: Path) -> None:
    program = (
        "import resource, sys; from pathlib import Path;"
        "from caliper.adapters.stores.journal import Journal;"
        "from caliper.core.errors import StoreFull;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))\n"
        "try: Journal(Path(sys.argv[1]), 'r')\n"
        "except StoreFull: print('full')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(path)],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("full", "")
    assert held(path) == []


def test_what_cannot_be_made_to_survive_is_told(path: Path) -> None:
    # A pipe in the file's place stands in for a broken disk: nothing can make that one last.
    source, pipe = os.pipe()
    with Journal(path, RUN) as journal:
        journal.append([verdict(0)])
        journal.sync()
        os.dup2(pipe, descriptor(path))
        with pytest.raises(StoreUnavailable):
            journal.sync()
    os.close(source)
    os.close(pipe)
