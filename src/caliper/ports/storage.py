"""Ports to the object store, datasets and reports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from caliper.core.layout import Layout
from caliper.core.outcome import Verdict
from caliper.core.question import Failure
from caliper.core.report import Report, VerdictRow
from caliper.core.rows import Row
from caliper.core.run import RunSpec


class ObjectStore(Protocol):
    """Immutable bytes by key, such as `jobs/ab/abcdef`. Writing a key again replaces it.

    `version` and `replace` let several processes write one key without losing a write.
    """

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes atomically, or stream the content of a file. Raises StoreUnavailable or
        StoreFull.
        """
        ...

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """The bytes under `key`, None if it does not exist. Raises StoreUnavailable, and
        InvalidInput naming an object of more than `max_bytes` bytes, without reading the rest.
        """
        ...

    async def version(self, key: str) -> str | None:
        """A tag of the current content of `key`, None if it does not exist. Raises
        StoreUnavailable.
        """
        ...

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        """Store what `put` stores if `key` still has this version, None if it must not exist.

        Returns the new version, or None if the content differs. Content equal to `data` is a
        success, so that a call whose answer was lost may be repeated. Raises what `put` raises.
        """
        ...

    async def get_file(self, key: str, file: Path) -> bool:
        """Stream the bytes under `key` into a file. Returns False and writes nothing if the key
        does not exist. Raises StoreUnavailable.
        """
        ...

    def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys with a prefix, sorted by code points. Raises StoreUnavailable."""
        ...


class DeletableStore(ObjectStore, Protocol):
    """A whole store, whose objects can be deleted. Services get ObjectStores."""

    async def get_range(self, key: str, first: int, length: int) -> bytes | None:
        """At most `length` bytes, not 0, under `key` from `first` on; None if there are none.
        Raises StoreUnavailable.
        """
        ...

    async def size(self, key: str) -> int | None:
        """The number of bytes under `key`, None if it does not exist. Raises StoreUnavailable."""
        ...

    async def delete(self, *keys: str) -> None:
        """Delete those of these keys that exist. Raises StoreUnavailable."""
        ...


class Dataset(Protocol):
    """A dataset: rows in files."""

    def rows(self, layout: Layout) -> Iterator[Row]:
        """All rows, in a fixed order. Raises InvalidInput naming file and line."""
        ...

    def digest(self, layout: Layout) -> str:
        """SHA-256 over the bytes of the files that `rows` reads."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """The inputs for planning one benchmark. `captions` are texts by sample id, None if a model
    writes them. `lacking` says why samples have no caption, where known. `size` is that of the data
    in bytes, if known.
    """

    data: Dataset
    captions: Mapping[str, str] | None
    qa_data: Dataset | None = None
    lacking: Mapping[str, Failure] = field(default_factory=dict)
    size: int = 0


class Supplies(Protocol):
    """The datasets and captions available to runs, by digest."""

    async def has_dataset(self, digest: str) -> bool:
        """Whether the complete dataset is available. Raises StoreUnavailable."""
        ...

    async def has_captions(self, digest: str) -> bool:
        """Whether captions with this digest are available. Raises StoreUnavailable."""
        ...

    def sources(self, spec: RunSpec) -> AbstractAsyncContextManager[Mapping[str, Sources]]:
        """The sources of every benchmark of a run. Rows can be read inside the context, captions
        at any time. Raises InvalidInput for missing inputs, StoreUnavailable.
        """
        ...


class VerdictLog(Protocol):
    """An append-only log of verdicts, read back by position."""

    def append(self, verdicts: Sequence[Verdict]) -> list[int]:
        """Append and return the position of each. Raises StoreUnavailable or StoreFull."""
        ...

    def read(self, place: int) -> Verdict:
        """The verdict at a position, immediately. Raises KeyError if it needs `read_many`."""
        ...

    async def read_many(self, places: Iterable[int]) -> Mapping[int, Verdict]:
        """The verdicts at these positions. Raises StoreUnavailable, InvalidInput if one is lost."""
        ...


class ReportSink(Protocol):
    """Exports the results of a run in one file format."""

    def write(self, report: Report, verdicts: Iterator[VerdictRow], directory: Path, /) -> Path:
        """Write a file into the run's directory and return its path. Raises StoreFull."""
        ...
