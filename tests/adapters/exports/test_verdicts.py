import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.fakes import reports

from caliper.adapters.exports.jsonl import JsonLinesExport, record
from caliper.adapters.exports.parquet import SCHEMA, ParquetExport
from caliper.core.errors import CaliperError
from caliper.core.report import VerdictRow

REPORT = reports.report()
HOSTILE = 'a "quote"\nand a line \u2028 an emoji \N{WINKING FACE} a surrogate \ud800 \x00'


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def test_a_line_a_row_with_the_columns_of_the_issue(tmp_path: Path) -> None:
    rows = reports.verdicts(9)
    path = JsonLinesExport().write(REPORT, iter(rows), tmp_path)
    written = lines(path)
    assert path.name == "verdicts.jsonl"
    assert [line["index"] for line in written] == [row.index for row in rows]
    assert written[0] == record(rows[0])
    assert set(written[0]) >= {
        *("benchmark", "task", "sample_id", "question", "repeat", "outcome", "score", "reason"),
        *("reply", "judge", "item", "question_id", "expected", "explanation", "repaired", "index"),
    }


def test_what_models_write_comes_back_whole(tmp_path: Path) -> None:
    row = reports.verdict(0, reply=HOSTILE)
    path = JsonLinesExport().write(REPORT, iter([row]), tmp_path)
    assert lines(path)[0]["reply"] == HOSTILE
    table = pq.read_table(ParquetExport().write(REPORT, iter([row]), tmp_path))
    assert table["reply"].to_pylist() == [HOSTILE.replace("\ud800", "\\ud800")]


def test_parquet_holds_what_json_lines_hold(tmp_path: Path) -> None:
    rows = reports.verdicts(50)
    path = ParquetExport().write(REPORT, iter(rows), tmp_path)
    table = pq.read_table(path)
    assert path.name == "verdicts.parquet"
    assert table.schema.equals(SCHEMA)
    assert table.to_pylist() == lines(JsonLinesExport().write(REPORT, iter(rows), tmp_path))
    assert list(table.to_pylist()[0]) == list(record(rows[0]))


def test_parquet_is_streamed_in_row_groups_and_the_same_every_time(tmp_path: Path) -> None:
    def rows() -> Iterator[VerdictRow]:
        return map(reports.verdict, range(5000))

    first = ParquetExport().write(REPORT, rows(), tmp_path / "a")
    second = ParquetExport().write(REPORT, rows(), tmp_path / "b")
    assert pq.ParquetFile(first).num_row_groups == 2
    assert first.read_bytes() == second.read_bytes()


def test_no_verdicts_make_files_without_rows(tmp_path: Path) -> None:
    assert JsonLinesExport().write(REPORT, iter(()), tmp_path).read_bytes() == b""
    table = pq.read_table(ParquetExport().write(REPORT, iter(()), tmp_path))
    assert (table.num_rows, table.schema.equals(SCHEMA)) == (0, True)


@pytest.mark.parametrize("export", [JsonLinesExport(), ParquetExport()])
def test_verdicts_that_break_off_leave_no_file(
    tmp_path: Path, export: JsonLinesExport | ParquetExport
) -> None:
    def broken() -> Iterator[VerdictRow]:
        yield reports.verdict(0)
        raise CaliperError

    with pytest.raises(CaliperError):
        export.write(REPORT, broken(), tmp_path)
    assert list(tmp_path.iterdir()) == []
