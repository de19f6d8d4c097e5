"""Ports to the object store, datasets and reports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from caliper.core.layout import Layout
from caliper.core.outcome import Verdict
from caliper.core.report import Report, VerdictRow
from caliper.core.rows import Row
from caliper.core.run import RunSpec


class ObjectStore(Protocol):
    """Immutable bytes under keys such as `jobs/ab/abcdef`. Writing a key again replaces it."""

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes, or the content of a file with a part in memory at a time: whole or not at
        all. Raises StoreUnavailable or StoreFull.
        """
        ...

    async def get(self, key: str, most: int | None = None) -> bytes | None:
        """The bytes under `key`, None when there are none. Raises StoreUnavailable, and
        InvalidInput naming an object of more than `most` bytes: the rest of it is not read.
        """
        ...

    async def get_file(self, key: str, file: Path) -> bool:
        """Write the bytes under `key` to a file, a part in memory at a time. False, with nothing
        written, when there are none. Raises StoreUnavailable.
        """
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
class Sources:
    """Where planning reads one benchmark's rows. `captions` are the texts by sample id,
    None when a model writes them.
    """

    data: Dataset
    captions: Mapping[str, str] | None
    qa_data: Dataset | None = None


class Supplies(Protocol):
    """The datasets and captions that runs can be over, by digest."""

    async def has_dataset(self, digest: str) -> bool:
        """Whether a dataset is there as a whole. Raises StoreUnavailable."""
        ...

    async def has_captions(self, digest: str) -> bool:
        """Whether captions of that digest are there. Raises StoreUnavailable."""
        ...

    def sources(self, spec: RunSpec) -> AbstractAsyncContextManager[Mapping[str, Sources]]:
        """The sources of every benchmark of a run. Rows are read while the context lasts, captions
        at any time. Raises InvalidInput for what is not there, StoreUnavailable.
        """
        ...


class VerdictLog(Protocol):
    """An append-only record of verdicts, read back by place."""

    def append(self, verdicts: Sequence[Verdict]) -> list[int]:
        """Append and return the place of each. Raises StoreUnavailable or StoreFull."""
        ...

    def read(self, place: int) -> Verdict:
        """The verdict at a place, at once. Raises KeyError where that takes `read_many`."""
        ...

    async def read_many(self, places: Iterable[int]) -> Mapping[int, Verdict]:
        """The verdicts at these places. Raises StoreUnavailable, InvalidInput for a lost one."""
        ...


class ReportSink(Protocol):
    """Writes what a run found into one kind of file."""

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path) -> Path:
        """Write into the run's directory and return the file. Raises StoreFull."""
        ...
