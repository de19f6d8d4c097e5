"""Snapshots of the aggregator's state: its offsets in the topics, and its ledgers.

Layout of a snapshot object:

    magic line, size of the header (4 bytes, little endian), header (JSON),
    the columns of all runs in order, each deflated,
    SHA-256 of everything before it

Snapshots rotate over a few objects; the newest intact one counts.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.run import SCHEMA, refuse_newer
from caliper.pipeline.ledger.ledger import Columns
from caliper.pipeline.ledger.offsets import LogOffsets
from caliper.pipeline.store.decompression import inflate
from caliper.ports.storage import ObjectStore

_MAGIC = b"caliper snapshot\n"
_INT_COLUMNS = ("numerators", "denominators", "places", "digests")
_OBJECTS = 3
_MOST_OUTCOMES = 16 << 20
"""The most outcomes of a run, whose columns take half a gigabyte."""
FOLDER = "aggregator/"
_NAME = "snapshot-"


@dataclass(frozen=True, slots=True)
class RunSnapshot:
    """One run in a snapshot: its ledger columns, its `facts`, and whether its report is current."""

    facts: dict[str, Any]
    columns: Columns
    current: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The aggregator's state. `announced_ends` is the last known end of each run: (state, SHA-256
    of the report).
    """

    number: int
    offsets: LogOffsets
    announced_ends: dict[str, tuple[str, str]] = field(default_factory=dict)
    runs: dict[str, RunSnapshot] = field(default_factory=dict)


def encode(snapshot: Snapshot) -> bytes:
    """Encode a snapshot as bytes."""
    blobs: list[bytes] = []
    runs = {}
    # Columns follow the order of the header, whose keys are sorted.
    for run, state in sorted(snapshot.runs.items()):
        columns = [zlib.compress(column, 1) for column in _column_bytes(state.columns)]
        blobs += columns
        runs[run] = {
            "facts": state.facts,
            "current": state.current,
            "long": {str(index): str(score) for index, score in state.columns.long.items()},
            "sizes": [len(column) for column in columns],
        }
    header = canonical_json(
        {
            "schema": SCHEMA,
            "order": sys.byteorder,
            "number": snapshot.number,
            "offsets": {
                topic: {str(partition): offset for partition, offset in places.items()}
                for topic, places in snapshot.offsets.offsets.items()
            },
            "logs": snapshot.offsets.logs,
            "announced": snapshot.announced_ends,
            "runs": runs,
        }
    )
    parts = (_MAGIC, len(header).to_bytes(4, "little"), header, *blobs)
    # Hash part by part: a million outcomes take more than ten megabytes.
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b"".join((*parts, digest.digest()))


def _column_bytes(columns: Columns) -> Iterator[memoryview]:
    yield memoryview(columns.states)
    for name in _INT_COLUMNS:
        yield memoryview(getattr(columns, name)).cast("B")


def decode(data: bytes) -> Snapshot:
    """Decode a snapshot that `encode` wrote.

    Raises NewerSchema, or InvalidInput if it is damaged or from a machine of another byte order.
    """
    header, blobs = _header(data)
    try:
        runs = {}
        for run, fields in header["runs"].items():
            columns, blobs = _columns(fields, blobs)
            runs[run] = RunSnapshot(fields["facts"], columns, fields["current"])
        return Snapshot(
            header["number"],
            _places(header),
            {run: (state, report) for run, (state, report) in header["announced"].items()},
            runs,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"not a snapshot: {error!r}") from error


def _header(data: bytes) -> tuple[dict[str, Any], memoryview]:
    view, start = memoryview(data), len(_MAGIC) + 4
    if not data.startswith(_MAGIC) or hashlib.sha256(view[:-32]).digest() != view[-32:]:
        raise InvalidInput("the snapshot is incomplete")
    end = start + int.from_bytes(view[len(_MAGIC) : start], "little")
    header: dict[str, Any] = json.loads(bytes(view[start:end]))
    refuse_newer(header.get("schema"), "snapshot")
    if header.get("order") != sys.byteorder:
        raise InvalidInput("the snapshot is from a machine of another byte order")
    return header, view[end:-32]


def _places(header: dict[str, Any]) -> LogOffsets:
    offsets = {
        topic: {int(partition): offset for partition, offset in places.items()}
        for topic, places in header["offsets"].items()
    }
    return LogOffsets(offsets, dict(header["logs"]))


def _columns(fields: dict[str, Any], blobs: memoryview) -> tuple[Columns, memoryview]:
    """The columns of one run, and the remaining blobs."""
    columns = Columns(long={int(index): Fraction(score) for index, score in fields["long"].items()})
    states_size, *sizes = fields["sizes"]
    columns.states = bytearray(inflate(blobs[:states_size], _MOST_OUTCOMES))
    blobs = blobs[states_size:]
    for name, size in zip(_INT_COLUMNS, sizes, strict=True):
        column = array("q")
        column.frombytes(inflate(blobs[:size], column.itemsize * len(columns.states)))
        setattr(columns, name, column)
        blobs = blobs[size:]
    return columns, blobs


async def save(store: ObjectStore, number: int, data: bytes, folder: str = FOLDER) -> None:
    """Write an encoded snapshot to the next object. Raises StoreUnavailable or StoreFull."""
    await store.put(f"{folder}{_NAME}{number % _OBJECTS}.bin", data)


async def newest(
    store: ObjectStore, folder: str = FOLDER
) -> tuple[Snapshot | None, list[InvalidInput]]:
    """The newest intact snapshot, and the errors of damaged ones. Raises StoreUnavailable."""
    candidates, errors = [], []
    async for key in store.list(folder + _NAME):
        data = await store.get(key) or b""
        try:
            candidates.append((int(_header(data)[0]["number"]), key, data))
        except InvalidInput as error:
            errors.append(InvalidInput(error.message, file=key))
    for _, key, data in sorted(candidates, reverse=True):
        try:
            return decode(data), errors
        except InvalidInput as error:
            errors.append(InvalidInput(error.message, file=key))
    return None, errors
