import csv
import fcntl
import os
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.fakes import reports
from tests.fakes.results import results

from caliper.adapters.exports.sinks.csv import CsvSink
from caliper.core.errors import InvalidInput


def test_one_table_holds_each_run_once(tmp_path: Path) -> None:
    file = tmp_path / "out" / "figures.csv"
    sink = CsvSink(str(file))
    first, second = results(), results(reports.report(name="=evil()"), "b" * 16, step=None)
    assert [sink.write(each) for each in (first, second)] == [str(file)] * 2
    written = file.read_bytes()
    for again in (second, first):
        sink.write(again)
        assert file.read_bytes() == written
    rows = read(file)
    assert len(rows) == 2 * len(first.figures)
    by_figure = {(row["run"], row["benchmark"], row["figure"]): row for row in rows}
    row = by_figure[first.run, "capability", "average.f1"]
    assert (row["value"], row["low"], row["high"]) == ("61.5", "58.25", "64.125")
    assert (row["step"], row["is_headline"], row["scored"], row["askable"]) == (
        *("1200", "true", "596", "600"),
    )
    assert by_figure["b" * 16, "captionqa", "overall.score"]["checkpoint"] == "'=evil()"
    sink.write(results(reports.report("finished")))
    assert [row["state"] for row in read(file)] == (
        ["finished"] * len(first.figures) + ["complete"] * len(first.figures)
    )


def read(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text("utf-8").splitlines()))


def test_another_table_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInput, match=r"mine.csv:1: holds another table"):
        CsvSink(str(file)).write(results())
    assert file.read_text() == "a,b\n1,2\n"
    with pytest.raises(InvalidInput, match="name a file: csv:FILE"):
        CsvSink("")


class _HeldRun(str):
    """A run id that is compared only once the test says `go`, and tells that it was `reached`."""

    __slots__ = ()
    reached, go = Event(), Event()

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        self.reached.set()
        self.go.wait()
        return str.__eq__(self, other)


def test_two_exports_at_once_lose_no_run(tmp_path: Path) -> None:
    file = tmp_path / "figures.csv"
    CsvSink(str(file)).write(results())
    run = _HeldRun("b" * 16)
    held = replace(results(), run=run)
    slow = Thread(target=CsvSink(str(file)).write, args=[held], daemon=True)
    slow.start()
    run.reached.wait()
    # The rows are read and not written yet: others wait.
    was_locked = is_locked(tmp_path)
    other = Thread(target=CsvSink(str(file)).write, args=[results(run="c" * 16)], daemon=True)
    other.start()
    run.go.set()
    slow.join()
    other.join()
    assert was_locked
    assert {row["run"] for row in read(file)} == {results().run, "b" * 16, "c" * 16}


def is_locked(folder: Path) -> bool:
    place = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(place)
    return False


def test_a_table_at_a_link_is_found_and_the_link_stays(tmp_path: Path) -> None:
    file, link = tmp_path / "figures.csv", tmp_path / "latest.csv"
    link.symlink_to(file.name)
    assert CsvSink(str(link)).write(results()) == str(link)
    CsvSink(str(file)).write(results(run="c" * 16))
    assert link.is_symlink()
    assert {row["run"] for row in read(link)} == {results().run, "c" * 16}


def test_a_pipe_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=[b""], daemon=True)
    writer.start()
    with pytest.raises(InvalidInput, match="pipe: not a regular file"):
        CsvSink(str(pipe)).write(results())
    assert pipe.is_fifo()
    # The writer waited for a reader until now.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer.join()
    os.close(reader)
