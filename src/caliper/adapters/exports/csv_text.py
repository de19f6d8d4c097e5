"""Tables as CSV that spreadsheets open without running anything."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of cells that spreadsheets take for formulas."""


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """The rows as CSV. A text that a spreadsheet would take for a formula begins with a `'`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(map(_cell, row) for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
