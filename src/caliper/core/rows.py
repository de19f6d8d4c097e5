"""Rows of datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import InvalidInput

UNCOUNTED = ", so the number of questions is unknown"
"""Ends the note of a question that stands for all those of a sample, whose list cannot be read."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of an input file, with the place it was read from.

    `line` counts from 1: the line of a text file, the position in a table. `entry` is the position
    in a list or object, from 1, of a record without a known line, or that begins on the line of the
    one before.
    """

    file: str
    line: int | None
    fields: Mapping[str, Any]
    entry: int | None = None

    @property
    def place(self) -> str:
        """Where the row is in its file, in words."""
        return f"line {self.line}" if self.entry is None else f"entry {self.entry}"

    def error(self, field: str, message: str) -> InvalidInput:
        """The error to raise when `field` is unusable."""
        if self.entry is not None:
            field = f"entry {self.entry}: {field}" if field else f"entry {self.entry}"
        return InvalidInput(message, file=self.file, line=self.line, field=field)

    def text(self, field: str) -> str:
        """The text in `field`. Raises InvalidInput if it is absent, empty or not text."""
        value = self.fields.get(field)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str) or not value.strip():
            message = "missing" if value is None else f"expected text, found {value!r:.60}"
            raise self.error(field, message)
        return value


def note_of(error: InvalidInput) -> str:
    """An error about a row as the plan notes it: with the file's name but not its folder, so that
    a plan is the same wherever the data are.
    """
    name = error.file.replace("\\", "/").rsplit("/", 1)[-1]
    return str(InvalidInput(error.message, file=name, line=error.line, field=error.field))
