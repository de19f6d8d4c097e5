"""Rows of CSV files with a header."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.datasets.jsontext import BYTE_ORDER_MARK, decode, unreadable
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


@dataclass(frozen=True, slots=True)
class CsvTable:
    """The columns and rows of a CSV file. `Row.line` is the last line of the row."""

    file: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def require(self, *columns: str) -> None:
        """Raises InvalidInput for a column that does not exist."""
        for name in columns:
            if name not in self.columns:
                existing = ", ".join(self.columns) or "none"
                raise InvalidInput(
                    f"no such column; there are: {existing}", file=str(self.file), field=name
                )


def read_csv(path: Path, delimiter: str = ",", *, strict: bool = False) -> CsvTable:
    """Read a whole file. If `strict`, an unclosed quote is refused: it would make one cell of many
    rows. Raises InvalidInput, with the line where there is one.
    """
    try:
        data = path.read_bytes().removeprefix(BYTE_ORDER_MARK)
    except OSError as error:
        raise unreadable(path, error) from error
    # Keep line ends as they are: quoted fields may contain them.
    text = io.StringIO(decode(data, path), newline="")
    reader = csv.DictReader(text, delimiter=delimiter, strict=strict)
    try:
        rows = tuple(Row(str(path), reader.line_num, fields) for fields in reader)
    except csv.Error as error:
        line = reader.reader.line_num
        raise InvalidInput(f"broken CSV: {error}", file=str(path), line=line) from error
    return CsvTable(path, tuple(reader.fieldnames or ()), rows)
