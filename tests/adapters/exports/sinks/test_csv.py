import csv
from pathlib import Path

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
