"""Checkpoints that notifications of a bucket announce."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote_plus

import pytest
from tests.fakes.stores import MemoryStore

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.checkpoints import CheckpointRevision, SourceLoss
from caliper.core.envelopes import Message
from caliper.core.errors import InvalidInput, StoreUnavailable, StreamUnavailable
from caliper.pipeline.suites.notifications import BucketNotifications, BucketPlace

TOPIC = "checkpoints"
ROOT = "s3://models/run/"


class Objects:
    """A bucket, whose ETags are the texts of its objects."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.away = False
        self.private: set[str] = set()

    async def version(self, key: str) -> str | None:
        if self.away:
            raise StoreUnavailable("the bucket is away")
        if key in self.private:
            raise StoreUnavailable("access denied")
        text = self.held.get(key)
        return None if text is None else str(len(text)) + text[:4].strip('{}"')

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        return self.held[key].encode()


class Announced:
    """A bucket whose changes are announced in a topic."""

    def __init__(self) -> None:
        self.objects, self.store = Objects(), MemoryStore()
        self.stream = MemoryStream(logs=(TOPIC,))
        self.warnings: list[str] = []

    @asynccontextmanager
    async def source(self, names: str = "*") -> AsyncIterator[BucketNotifications]:
        """What a process reads, as if with --once: all that was announced before."""
        log, place = (self.stream, TOPIC), BucketPlace("models", "run/", names)
        warn = self.warnings.append
        async with BucketNotifications(
            log, place, self.objects, self.store, warn, once=True
        ) as source:
            yield source

    async def arrivals(self, names: str = "*") -> list[Any]:
        """What a process finds, and notes as read."""
        async with self.source(names) as source:
            found = list(await source.arrivals())
            assert list(await source.arrivals()) == []
        return found

    async def announce(self, *keys: str, bucket: str = "models") -> None:
        for key in keys:
            part = {"bucket": {"name": bucket}, "object": {"key": quote_plus(key)}}
            await self.raw(json.dumps({"Records": [{"s3": part}]}))

    async def raw(self, value: str) -> None:
        await self.stream.publish(Message(TOPIC, "", value.encode()))

    async def put(self, key: str, text: str) -> None:
        self.objects.held[key] = text
        await self.announce(key)


@pytest.fixture
def bucket() -> Announced:
    return Announced()


def revisions(found: list[Any]) -> list[tuple[str, str, str]]:
    return [
        (each.source.removeprefix(ROOT), each.revision, each.name)
        for each in found
        if isinstance(each, CheckpointRevision)
    ]


async def test_an_object_is_a_checkpoint_whatever_its_key(bucket: Announced) -> None:
    await bucket.put("run/epoch=0 step=500.ckpt", "aaaa")
    await bucket.put("elsewhere/step-1", "bbbb")
    await bucket.announce("run/step-2", bucket="others")
    await bucket.put("run/folder/", "")
    found = await bucket.arrivals()
    name = "epoch=0 step=500.ckpt"
    assert revisions(found) == [(name, "4aaaa", name)]
    assert found[1] == SourceLoss(ROOT + name, "4aaaa")


async def test_the_bucket_decides_whatever_order_notifications_come_in(bucket: Announced) -> None:
    # Made, removed, made: announced in any order, and twice.
    await bucket.put("run/a", "first")
    await bucket.put("run/a", "second")
    await bucket.put("run/b", "gone")
    del bucket.objects.held["run/b"]
    await bucket.announce("run/b", "run/a", "run/b")
    found = await bucket.arrivals()
    assert revisions(found) == [("a", "6seco", "a")]
    assert SourceLoss(ROOT + "b") in found


async def test_each_notification_is_read_once_also_by_the_next_process(bucket: Announced) -> None:
    await bucket.put("run/a", "a")
    assert len(revisions(await bucket.arrivals())) == 1
    await bucket.put("run/b", "b")
    assert revisions(await bucket.arrivals()) == [("b", "1b", "b")]
    assert await bucket.arrivals() == []


async def test_what_was_not_registered_is_read_again(bucket: Announced) -> None:
    await bucket.put("run/a", "a")
    async with bucket.source() as source:
        assert len(revisions(list(await source.arrivals()))) == 1
        # It is killed before its next turn.
    assert len(revisions(await bucket.arrivals())) == 1


async def test_an_outage_of_the_bucket_loses_nothing(bucket: Announced) -> None:
    await bucket.put("run/a", "a")
    bucket.objects.away = True
    async with bucket.source() as source:
        assert await source.arrivals() == []
        assert await source.arrivals() == []
        assert bucket.warnings == ["the bucket is away"]
        bucket.objects.away = False
        assert len(revisions(list(await source.arrivals()))) == 1


async def test_an_object_that_may_not_be_read_hides_no_other(bucket: Announced) -> None:
    for name in "abc":
        await bucket.put(f"run/{name}", name)
    bucket.objects.private = {"run/b"}
    for _ in range(2):
        # The next process reads again from the same place: it was not read in full.
        async with bucket.source() as source:
            found = [each for _ in range(3) for each in await source.arrivals()]
            assert [name for _, _, name in revisions(found)] == ["a", "c"]
    assert set(bucket.warnings) == {"access denied"}
    bucket.objects.private.clear()
    assert [name for _, _, name in revisions(await bucket.arrivals())] == ["a", "b", "c"]


async def test_a_manifest_names_a_checkpoint(bucket: Announced) -> None:
    told = {"source": "hf://org/model", "revision": "c0ffee", "step": 7, "tags": ["b", "a", "b"]}
    await bucket.put("run/one/manifest.json", json.dumps(told))
    await bucket.put("run/step-2/manifest.json", "{}")
    await bucket.put("run/step-2/weights.bin", "weights")
    found = await bucket.arrivals("manifest.json")
    assert found == [
        CheckpointRevision("hf://org/model", "c0ffee", "model", 7, ("a", "b")),
        CheckpointRevision(ROOT + "step-2/", "2", "step-2"),
    ]
    del bucket.objects.held["run/step-2/manifest.json"]
    await bucket.announce("run/step-2/manifest.json")
    assert await bucket.arrivals("manifest.json") == [SourceLoss(ROOT + "step-2/")]


async def test_the_bucket_is_asked_why_a_checkpoint_is_gone(bucket: Announced) -> None:
    bucket.objects.held = {"run/a": "1", "run/b/manifest.json": "{}"}
    object_, other = (CheckpointRevision(ROOT + "a", each, "a") for each in ("11", "12"))
    folder = CheckpointRevision(ROOT + "b/", "2", "b")
    elsewhere = CheckpointRevision("s3://others/run/c", "1", "c")
    async with bucket.source() as source:

        async def told() -> list[str]:
            return [await source.loss_of(each) for each in (object_, other, folder, elsewhere)]

        assert await told() == ["", f"{ROOT}a now holds another version", "", ""]
        bucket.objects.held.clear()
        gone = f"{ROOT}a was removed"
        assert await told() == [gone, gone, f"{ROOT}b/ was removed", ""]
        # A bucket that is away has lost nothing.
        bucket.objects.away = True
        assert await told() == ["", "", "", ""]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x{", "not JSON"),
        ("[" * 10_000, "not JSON"),
        ("[]", "expected a JSON object"),
        ('{"tags": "a"}', "tags: expected a list"),
        ('{"tags": [1]}', "tags: expected text"),
        ('{"source": ""}', "source: expected text"),
        ('{"revision": 7}', "revision: expected text"),
        ('{"revision": "a/b"}', "revision"),
        ('{"step": "7"}', "step"),
        ('{"step": true}', "step"),
    ],
)
async def test_a_broken_manifest_is_told_and_harms_no_other(
    bucket: Announced, text: str, told: str
) -> None:
    await bucket.put("run/one/manifest.json", text)
    await bucket.put("run/a", "a")
    assert len(revisions(await bucket.arrivals())) == 1
    (warning,) = bucket.warnings
    assert warning.startswith(f"{ROOT}one/manifest.json: ")
    assert told in warning


@pytest.mark.parametrize(
    "value",
    ["", "{", "[]", "{}", '{"Records": [{}]}', '{"Records": [{"s3": {"object": {"key": 7}}}]}'],
)
async def test_a_message_that_is_no_notification_is_skipped(bucket: Announced, value: str) -> None:
    await bucket.raw(value)
    await bucket.put("run/a", "a")
    assert len(revisions(await bucket.arrivals())) == 1


async def test_offsets_of_another_log_are_not_used(bucket: Announced) -> None:
    await bucket.put("run/a", "a")
    await bucket.arrivals()
    bucket.stream = MemoryStream(logs=(TOPIC,))
    await bucket.announce("run/a")
    assert len(revisions(await bucket.arrivals())) == 1


async def test_an_outage_of_the_broker_is_told_once_and_ends_only_what_is_to_end(
    bucket: Announced,
) -> None:
    class Away(MemoryStream):
        async def identity(self, topic: str) -> str:
            raise StreamUnavailable("no broker")

    bucket.stream = Away(logs=(TOPIC,))
    place = BucketPlace("models")
    given = (bucket.stream, TOPIC), place, bucket.objects, bucket.store, bucket.warnings.append
    async with BucketNotifications(*given, once=True) as source:
        with pytest.raises(StreamUnavailable):
            await source.arrivals()
    async with BucketNotifications(*given) as source:
        while not bucket.warnings:
            assert await source.arrivals() == []
            await asyncio.sleep(0)
        await source.arrivals()
    assert bucket.warnings == ["no broker"]


def test_a_place_has_a_bucket() -> None:
    assert BucketPlace.parse("models/run/", "*.ckpt") == BucketPlace("models", "run/", "*.ckpt")
    with pytest.raises(InvalidInput, match="--bucket"):
        BucketPlace.parse("/run")
    assert BucketPlace("models", "run/", "*.ckpt").holds("models", "run/a/b.ckpt")
    assert not BucketPlace("models", "run/", "*.ckpt").holds("models", "run/a/b.ckpt.tmp")
