"""The aggregator's memory as one object: where it stands in the topics, and its ledgers.

    a line saying so, 4 bytes size of the header (little endian), header (JSON),
    the columns of every run one after the other, each deflated,
    SHA-256 of all that

Snapshots take turns in a few objects; the newest whole one counts.
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
from caliper.ports.storage import ObjectStore

_MAGIC = b"caliper snapshot\n"
_NUMBERS = ("numerators", "denominators", "places", "digests")
_TURNS = 3
_PREFIX = "aggregator/snapshot-"


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run's ledger, `facts` of it, and whether what was reported is all the ledger knows."""

    facts: dict[str, Any]
    columns: Columns
    current: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`announced` is what was last heard of ends of runs: (state, SHA-256 of the report)."""

    number: int
    places: LogOffsets
    announced: dict[str, tuple[str, str]] = field(default_factory=dict)
    runs: dict[str, KeptRun] = field(default_factory=dict)


def encode(snapshot: Snapshot) -> bytes:
    """The snapshot as bytes."""
    blobs: list[bytes] = []
    runs = {}
    # Columns lie in the order of the header, whose keys are sorted.
    for run, kept in sorted(snapshot.runs.items()):
        packed = [zlib.compress(column, 1) for column in _raw(kept.columns)]
        blobs += packed
        runs[run] = {
            "facts": kept.facts,
            "current": kept.current,
            "long": {str(index): str(score) for index, score in kept.columns.long.items()},
            "sizes": [len(column) for column in packed],
        }
    header = canonical_json(
        {
            "schema": SCHEMA,
            "order": sys.byteorder,
            "number": snapshot.number,
            "offsets": {
                topic: {str(partition): offset for partition, offset in places.items()}
                for topic, places in snapshot.places.offsets.items()
            },
            "logs": snapshot.places.logs,
            "announced": snapshot.announced,
            "runs": runs,
        }
    )
    parts = (_MAGIC, len(header).to_bytes(4, "little"), header, *blobs)
    # Part by part: of a million outcomes all of it is more than ten megabytes.
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b"".join((*parts, digest.digest()))


def _raw(columns: Columns) -> Iterator[memoryview]:
    yield memoryview(columns.states)
    for name in _NUMBERS:
        yield memoryview(getattr(columns, name)).cast("B")


def decode(data: bytes) -> Snapshot:
    """The snapshot that `encode` wrote.

    Raises NewerSchema, or InvalidInput for one that is not whole or of another machine.
    """
    header, blobs = _header(data)
    try:
        runs = {}
        for run, kept in header["runs"].items():
            columns, blobs = _columns(kept, blobs)
            runs[run] = KeptRun(kept["facts"], columns, kept["current"])
        return Snapshot(
            header["number"],
            _places(header),
            {run: (state, report) for run, (state, report) in header["announced"].items()},
            runs,
        )
    except (KeyError, TypeError, ValueError, AttributeError, zlib.error) as error:
        raise InvalidInput(f"not a snapshot: {error!r}") from error


def _header(data: bytes) -> tuple[dict[str, Any], memoryview]:
    view, start = memoryview(data), len(_MAGIC) + 4
    if not data.startswith(_MAGIC) or hashlib.sha256(view[:-32]).digest() != view[-32:]:
        raise InvalidInput("the snapshot is not whole")
    end = start + int.from_bytes(view[len(_MAGIC) : start], "little")
    header: dict[str, Any] = json.loads(bytes(view[start:end]))
    refuse_newer(header.get("schema"), "snapshot")
    if header.get("order") != sys.byteorder:
        raise InvalidInput("the snapshot of a machine of another byte order")
    return header, view[end:-32]


def _places(header: dict[str, Any]) -> LogOffsets:
    offsets = {
        topic: {int(partition): offset for partition, offset in places.items()}
        for topic, places in header["offsets"].items()
    }
    # A release before did not keep them.
    return LogOffsets(offsets, dict(header.get("logs", {})))


def _columns(kept: dict[str, Any], blobs: memoryview) -> tuple[Columns, memoryview]:
    columns = Columns(long={int(index): Fraction(score) for index, score in kept["long"].items()})
    first, *others = kept["sizes"]
    columns.states = bytearray(zlib.decompress(blobs[:first]))
    blobs = blobs[first:]
    for name, size in zip(_NUMBERS, others, strict=True):
        column = array("q")
        column.frombytes(zlib.decompress(blobs[:size]))
        setattr(columns, name, column)
        blobs = blobs[size:]
    return columns, blobs


async def save(store: ObjectStore, number: int, data: bytes) -> None:
    """Keep a snapshot in its turn. Raises StoreUnavailable or StoreFull."""
    await store.put(f"{_PREFIX}{number % _TURNS}.bin", data)


async def newest(store: ObjectStore) -> tuple[Snapshot | None, list[InvalidInput]]:
    """The newest whole snapshot, and what was wrong with others. Raises StoreUnavailable."""
    whole, errors = [], []
    async for key in store.list(_PREFIX):
        data = await store.get(key) or b""
        try:
            whole.append((int(_header(data)[0]["number"]), key, data))
        except InvalidInput as error:
            errors.append(InvalidInput(error.message, file=key))
    for _, key, data in sorted(whole, reverse=True):
        try:
            return decode(data), errors
        except InvalidInput as error:
            errors.append(InvalidInput(error.message, file=key))
    return None, errors
