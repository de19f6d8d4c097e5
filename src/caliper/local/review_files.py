"""The files of reviews in a build directory: `candidates.jsonl`, and for each reviewer
`reviews/NAME.jsonl`, which only grows.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from caliper.adapters.datasets.jsonrows import line_rows
from caliper.adapters.datasets.jsontext import parse
from caliper.adapters.files import encode_text, store_error
from caliper.building.candidates import AssessedCandidate, read_assessed
from caliper.building.reviews import Review, read_reviews
from caliper.core.errors import InvalidInput

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class ReviewFile:
    """The lines of one reviewer. Several processes may append at the same time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, int] | None = None
        self._reviews: tuple[Review, ...] = ()

    def read(self) -> tuple[Review, ...]:
        """All lines so far. Raises InvalidInput naming file, line and field; StoreUnavailable."""
        if not self._path.exists():
            return ()
        with self._locked():
            self._mend()
            status = self._path.stat()
            version = status.st_size, status.st_mtime_ns
            if version != self._version:
                self._reviews = tuple(read_reviews(line_rows(self._path)))
                self._version = version
            return self._reviews

    def append(self, review: Review) -> None:
        """Append a line, and return when it is on disk. Raises StoreUnavailable, StoreFull."""
        line = memoryview(encode_text(json.dumps(asdict(review), ensure_ascii=False) + "\n"))
        with self._locked() as folder:
            self._mend()
            with self._path.open("ab", buffering=0) as file:
                size = file.tell()
                try:
                    while line:
                        line = line[file.write(line) :]
                    os.fsync(file.fileno())
                except OSError:
                    file.truncate(size)
                    raise
            os.fsync(folder)

    def _mend(self) -> None:
        """Complete the last line, or remove it if the machine stopped while saving it."""
        data = self._path.read_bytes() if self._path.exists() else b""
        end = data.rfind(b"\n") + 1
        if end == len(data):
            return
        try:
            parse(data[end:].decode("utf-8", "replace"), self._path)
        except InvalidInput:
            os.truncate(self._path, end)
        else:
            # Editors may leave out the last line end.
            with self._path.open("ab") as file:
                file.write(b"\n")

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Exclude other processes. Yields the folder's descriptor."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX)
                yield folder
            finally:
                os.close(folder)
        except OSError as error:
            raise store_error(self._path, error) from error


def review_file(directory: Path, reviewer: str) -> ReviewFile:
    """The file of a reviewer. Raises InvalidInput for a name that is unusable as a file name."""
    if not _NAME.fullmatch(reviewer):
        message = f"expected letters, digits, '_', '.' and '-', at most 64, found {reviewer!r:.80}"
        raise InvalidInput(message, field="--reviewer")
    return ReviewFile(directory / "reviews" / f"{reviewer}.jsonl")


def all_reviews(directory: Path) -> dict[str, tuple[Review, ...]]:
    """The lines of every reviewer by name. Raises what `ReviewFile.read` raises."""
    files = sorted((directory / "reviews").glob("*.jsonl"))
    return {file.stem: ReviewFile(file).read() for file in files}


def read_review_candidates(directory: Path) -> list[AssessedCandidate]:
    """The candidates of a build directory. Raises InvalidInput naming file, line and field."""
    path = directory / "candidates.jsonl"
    if not path.exists():
        message = "contains no candidates.jsonl, which a finished caliper build writes"
        raise InvalidInput(message, file=str(directory))
    return read_assessed(line_rows(path))
