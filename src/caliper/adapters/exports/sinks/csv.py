"""A table of figures in one file, with the rows of as many runs as are exported to it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.exports.csv_text import csv_text
from caliper.adapters.files import encode_text, locked, output_file, write_atomically
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.ports.sinks import Results

_HEAD = (
    *("run", "checkpoint", "revision", "step", "state"),
    *("benchmark", "figure", "is_headline", "value", "low", "high", "scored", "askable"),
)


@dataclass(frozen=True, slots=True)
class CsvSink:
    """ports.sinks.Sink for a file of comma-separated values: one row per figure."""

    file: str

    def __post_init__(self) -> None:
        if not self.file:
            raise InvalidInput("name a file: csv:FILE")

    def write(self, results: Results) -> str:
        path, new = output_file(Path(self.file)), _cells(csv_text(_rows(results)))
        # Others may export to the same file: rows added between reading and writing would be lost.
        with locked(path):
            rows = self._stored(path)
            places = [place for place, row in enumerate(rows) if row[:1] == [results.run]]
            at = places[0] if places else len(rows)
            others = [row for row in rows if row[:1] != [results.run]]
            out = io.StringIO()
            # Stored cells are safe for spreadsheets already.
            writer = csv.writer(out, lineterminator="\n")
            writer.writerows([_HEAD, *others[:at], *new, *others[at:]])
            write_atomically(path, encode_text(out.getvalue()))
        return str(Path(self.file))

    def _stored(self, path: Path) -> list[list[str]]:
        """The rows of the file, without its head."""
        try:
            head, *rows = _cells(path.read_text("utf-8")) or [list(_HEAD)]
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise StoreUnavailable(f"{path}: {error}") from error
        if head != list(_HEAD):
            raise InvalidInput("holds another table; name another file", file=str(path), line=1)
        return rows


def _cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def _rows(results: Results) -> Iterator[Sequence[object]]:
    coverage = {part.name: part.coverage for part in results.report.benchmarks}
    about = (results.run, results.report.name, results.revision, results.step, results.report.state)
    for figure in results.figures:
        covered = coverage[figure.benchmark]
        is_headline = str(figure.is_headline).lower()
        bounds = (figure.value, figure.low, figure.high)
        counts = (covered.scored, covered.askable)
        yield (*about, figure.benchmark, figure.path, is_headline, *bounds, *counts)
