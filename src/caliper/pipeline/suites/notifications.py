"""Checkpoints in a bucket, found through its notifications in a topic.

A notification only hints which object to look at: what the bucket then holds is registered. So
notifications may come twice, late and out of order.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Protocol, Self
from urllib.parse import unquote_plus

from caliper.core.checkpoints import CheckpointRevision, SourceLoss
from caliper.core.errors import InvalidInput, StoreUnavailable, StreamUnavailable
from caliper.core.keys import digest
from caliper.pipeline.store.runs import read_replaceable, write_json
from caliper.pipeline.suites.tenure import stop
from caliper.ports.storage import ObjectStore
from caliper.ports.stream import LogReader

MANIFEST = "manifest.json"
MARKER = ".caliper-lease"
"""The suffix of the names of markers beside evaluated checkpoints."""
_LARGEST_MANIFEST = 64 * 1024
_Arrival = CheckpointRevision | SourceLoss


class SourceObjects(Protocol):
    """The objects of a bucket, under any keys."""

    async def version(self, key: str) -> str | None:
        """The ETag of an object, None if it does not exist. Raises StoreUnavailable."""
        ...

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """Like ports.storage.ObjectStore.get."""
        ...


@dataclass(frozen=True, slots=True)
class BucketPlace:
    """The place of checkpoints in a bucket: keys that begin with `prefix` and whose last part
    matches `names` (* and ?). A manifest.json names a checkpoint; any other object is one.
    """

    bucket: str
    prefix: str = ""
    names: str = "*"

    @classmethod
    def parse(cls, text: str, names: str = "*", field: str = "--bucket") -> BucketPlace:
        """Read BUCKET or BUCKET/PREFIX, which was given in `field`. Raises InvalidInput."""
        bucket, _, prefix = text.partition("/")
        if not bucket:
            raise InvalidInput("expected BUCKET or BUCKET/PREFIX", field=field)
        return cls(bucket, prefix, names)

    def holds(self, bucket: str, key: str) -> bool:
        """Whether an object is a checkpoint or a manifest here."""
        is_here = bucket == self.bucket and key.startswith(self.prefix)
        return (
            is_here
            and not key.endswith(("/", MARKER))
            and fnmatchcase(key.rpartition("/")[2], self.names)
        )


class BucketNotifications:
    """The changes in a bucket, by its notifications in `topic`. Enter it to follow the topic.

    `store` keeps the position up to which they were read, for the next process. With `once`, the
    first call of `arrivals` waits until the present notifications are read. `warn` takes problems
    of single objects, and outages.
    """

    def __init__(
        self,
        log: tuple[LogReader, str],
        place: BucketPlace,
        objects: SourceObjects,
        store: ObjectStore,
        warn: Callable[[str], None],
        *,
        once: bool = False,
    ) -> None:
        (self._log, self._topic), self._place = log, place
        self._objects, self._store, self._warn, self._once = objects, store, warn, once
        self._key = f"suite-sources/{digest([self._topic, place.bucket, place.prefix])[:16]}.json"
        self._identity = ""
        # The reader's position, the one when its objects were returned, and the one saved last.
        self._offsets: dict[int, int] = {}
        self._handed: dict[int, int] | None = None
        self._stored: dict[int, int] = {}
        # The time of the last change by key.
        self._pending: dict[str, str] = {}
        self._complete = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._warned = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._reader is not None:
            await stop(self._reader)

    async def arrivals(self) -> Sequence[_Arrival]:
        """The changes since the last call. Raises StoreUnavailable, and with `once` also
        StreamUnavailable.
        """
        if self._handed is not None:
            # Only now are all returned arrivals in the registry.
            await self._save(self._handed)
            self._stored, self._handed = self._handed, None
        await self._follow()
        offsets, keys = dict(self._offsets), dict(self._pending)
        arrivals: list[_Arrival] = []
        for key, time in keys.items():
            # First: it may change again while it is looked at.
            self._pending.pop(key, None)
            try:
                arrivals += await self._look(key, time)
            except StoreUnavailable as error:
                first = list(keys).index(key)
                # It goes last: one that may never be read must not hide the others.
                others = dict(list(keys.items())[first + 1 :])
                self._pending = others | {key: time} | self._pending
                self._warn_once(str(error))
                return arrivals
        if offsets != self._stored:
            self._handed = offsets
        return arrivals

    async def loss_of(self, checkpoint: CheckpointRevision) -> str:
        """Why a checkpoint is not in the bucket as announced, before a notification says so; empty
        if it is there, or its source is elsewhere.
        """
        place = self._place
        key = checkpoint.source.removeprefix(f"s3://{place.bucket}/")
        key += MANIFEST if key.endswith("/") else ""
        if key == checkpoint.source or not place.holds(place.bucket, key):
            return ""
        # An unreachable bucket has lost nothing.
        with suppress(StoreUnavailable):
            for each in await self._look(key):
                if isinstance(each, SourceLoss) and each.covers(checkpoint):
                    return each.reason
        return ""

    async def _follow(self) -> None:
        """Start the reader, and again after an outage."""
        if self._reader is None:
            self._reader = asyncio.create_task(self._read())
        if self._once:
            done = asyncio.create_task(self._complete.wait())
            await asyncio.wait((self._reader, done), return_when=asyncio.FIRST_COMPLETED)
            done.cancel()
        if self._reader.done():
            reader, self._reader = self._reader, None
            try:
                reader.result()
            except StreamUnavailable as error:
                if self._once:
                    raise
                self._warn_once(str(error))

    async def _read(self) -> None:
        identity = await self._log.identity(self._topic)
        if not self._offsets or identity != self._identity:
            self._offsets = await self._saved(identity)
        self._identity, ends = identity, await self._log.ends(self._topic)
        self._check_complete(ends)
        async with aclosing(self._log.read(self._topic, dict(self._offsets))) as records:
            async for record in records:
                for key, time in _keys(record.message.value, self._place):
                    # One that changed again is looked at again, after the others.
                    self._pending.pop(key, None)
                    self._pending[key] = time
                self._offsets[record.partition] = record.offset + 1
                self._warned = ""
                self._check_complete(ends)

    def _check_complete(self, ends: Any) -> None:
        if all(self._offsets.get(part, 0) >= end for part, end in ends.items()):
            self._complete.set()

    async def _saved(self, identity: str) -> dict[int, int]:
        fields = await read_replaceable(self._store, self._key)
        if fields.get("log") != identity:
            return {}
        with suppress(ValueError, AttributeError):
            return {int(part): int(place) for part, place in fields["offsets"].items()}
        return {}

    async def _save(self, offsets: dict[int, int]) -> None:
        parts = {str(part): place for part, place in offsets.items()}
        await write_json(self._store, self._key, log=self._identity, offsets=parts)

    def _warn_once(self, trouble: str) -> None:
        # An outage is reported once, not at every turn.
        if trouble != self._warned:
            self._warned = trouble
            self._warn(trouble)

    async def _look(self, key: str, time: str = "") -> list[_Arrival]:
        """The present content of the bucket under a key, which changed at a time."""
        source = f"s3://{self._place.bucket}/{key}"
        folder, slash, name = source.rpartition("/")
        is_manifest = name == MANIFEST
        revision = await self._objects.version(key)
        if revision is None:
            return [SourceLoss(folder + slash if is_manifest else source)]
        try:
            if is_manifest:
                data = await self._objects.get(key, _LARGEST_MANIFEST)
                return [replace(_named_by(data or b"", source, revision), appeared=time)]
            label = key.removeprefix(self._place.prefix).strip("/") or name
            checkpoint = CheckpointRevision(source, revision, label, appeared=time)
            return [checkpoint, SourceLoss(source, revision)]
        except InvalidInput as error:
            self._warn(f"{source}: {error}")
            return []


def _keys(value: Any, place: BucketPlace) -> Iterator[tuple[str, str]]:
    """The objects in a notification of MinIO: keys, which it escapes as in forms, and times of
    change.
    """
    # Whatever others write into the topic must not end the loop.
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        for record in json.loads(value)["Records"]:
            part = record["s3"]
            key = unquote_plus(part["object"]["key"])
            if place.holds(part["bucket"]["name"], key):
                yield key, str(record.get("eventTime", ""))[:32]


def _named_by(data: bytes, source: str, etag: str) -> CheckpointRevision:
    """The checkpoint that a manifest names: by default its own folder, and its own ETag as the
    revision. Raises InvalidInput.
    """
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("not JSON") from error
    if not isinstance(fields, dict):
        raise InvalidInput("expected a JSON object")
    tags = fields.get("tags", [])
    place = fields.get("source", source.removesuffix(MANIFEST))
    texts = {"source": place, "revision": fields.get("revision", etag)}
    texts["name"] = fields.get("name", str(place).rstrip("/").rpartition("/")[2])
    if not isinstance(tags, list):
        raise InvalidInput("expected a list", field="tags")
    for field, text in (*texts.items(), *(("tags", tag) for tag in tags)):
        if not isinstance(text, str) or not text:
            raise InvalidInput(f"expected text, found {text!r:.40}", field=field)
    return CheckpointRevision(**texts, step=fields.get("step"), tags=tuple(sorted(set(tags))))
