"""Ports to the object store, datasets and reports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from caliper.benchmarks.base import Layout
from caliper.core.report import Report, VerdictRow
from caliper.core.sample import Row


class ObjectStore(Protocol):
    """Immutable bytes under keys such as `jobs/ab/abcdef`. Writing a key again replaces it."""

    async def put(self, key: str, data: bytes) -> None:
        """Store `data` whole or not at all. Raises StoreUnavailable or StoreFull."""
        ...

    async def get(self, key: str) -> bytes | None:
        """The bytes under `key`, None when there are none. Raises StoreUnavailable."""
        ...

    def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys under a prefix, in order. Raises StoreUnavailable."""
        ...


class Dataset(Protocol):
    """Rows in files."""

    def rows(self, layout: Layout) -> Iterator[Row]:
        """Every row, in a fixed order. Raises InvalidInput naming file and line."""
        ...

    def digest(self, layout: Layout) -> str:
        """SHA-256 over the bytes of the files that `rows` reads."""
        ...


@dataclass(frozen=True, slots=True)
class SampleCaption:
    """A caption for the report's browser: whose, and its text."""

    sample: str
    text: str


class ReportSink(Protocol):
    """Writes what a run found into one kind of file."""

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        """Write into the run's directory and return the file. Raises StoreFull."""
        ...
