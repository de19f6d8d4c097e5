"""A run's verdicts as an append-only file, one JSON line each: what resume goes by.

A line that a crash cut off does not count when the journal is opened again, and the next
append takes its place; its question is asked again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from caliper.adapters.files import store_error
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.outcome import Verdict
from caliper.core.run import SCHEMA, refuse_newer


class Journal:
    """ports.storage.LocalVerdictLog in a file. A place is a byte offset.

    Opening raises InvalidInput for the journal of another run, NewerSchema for that of a
    newer release, StoreUnavailable when the file cannot be opened.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = path.open("a+b", buffering=0)
        except OSError as error:
            raise store_error(path, error) from error
        try:
            self._open(run)
        except BaseException:
            self._file.close()
            raise

    def _open(self, run: str) -> None:
        try:
            self._end = self._whole_lines()
            # Cut off by the next write, not now: who only reads must not touch what another
            # process may be appending to.
            self._torn = self._file.seek(0, os.SEEK_END) > self._end
        except OSError as error:
            raise store_error(self._path, error) from error
        if self._end == 0:
            self._write(canonical_json({"schema": SCHEMA, "run": run}) + b"\n")
        self._first = self._check_header(run)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _whole_lines(self) -> int:
        """The size up to and including the last line end."""
        size = self._file.seek(0, os.SEEK_END)
        while size:
            start = max(0, size - 65536)
            self._file.seek(start)
            found = self._file.read(size - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            size = start
        return 0

    def _check_header(self, run: str) -> int:
        line = self._line_at(0)
        try:
            header = json.loads(line)
        except ValueError:
            header = None
        if not isinstance(header, dict):
            raise InvalidInput("this is no journal", file=str(self._path), line=1)
        refuse_newer(header.get("schema"), str(self._path))
        if header.get("run") != run:
            raise InvalidInput(
                f"the journal of run {header.get('run')}, not of {run}",
                file=str(self._path),
                line=1,
            )
        return len(line)

    def append(self, verdicts: Sequence[Verdict]) -> list[int]:
        places: list[int] = []
        lines: list[bytes] = []
        place = self._end
        for verdict in verdicts:
            line = canonical_json(verdict.to_json()) + b"\n"
            places.append(place)
            lines.append(line)
            place += len(line)
        self._write(b"".join(lines))
        return places

    def _write(self, data: bytes) -> None:
        try:
            if self._torn:
                self._file.truncate(self._end)
                self._torn = False
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
        except OSError as error:
            # Half a line must not stay in front of what is appended next.
            self._torn = True
            raise store_error(self._path, error) from error
        self._end += len(data)

    def read(self, place: int) -> Verdict:
        return Verdict.from_json(json.loads(self._line_at(place)))

    async def read_many(self, places: Iterable[int]) -> Mapping[int, Verdict]:
        return {place: self.read(place) for place in places}

    def _line_at(self, place: int) -> bytes:
        size = 4096
        while True:
            piece = os.pread(self._file.fileno(), size, place)
            end = piece.find(b"\n")
            if end >= 0:
                return piece[: end + 1]
            if len(piece) < size:
                return piece
            size *= 4

    def __iter__(self) -> Iterator[tuple[int, Verdict]]:
        place, end = self._first, self._end
        with self._path.open("rb") as lines:
            lines.seek(place)
            for number, line in enumerate(lines, start=2):
                if place >= end:
                    return
                try:
                    yield place, Verdict.from_json(json.loads(line))
                except ValueError as error:
                    raise InvalidInput(
                        "this line holds no verdict", file=str(self._path), line=number
                    ) from error
                place += len(line)

    def sync(self) -> None:
        """Make what was appended survive a loss of power. Raises StoreUnavailable."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise store_error(self._path, error) from error

    def close(self) -> None:
        self._file.close()
