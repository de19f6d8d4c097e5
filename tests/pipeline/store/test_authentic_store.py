"""Replies are signed with their keys, and those that are not do not exist."""

import json
import logging
from pathlib import Path

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.packs import key
from tests.fakes.stores import MemoryStore
from tests.fakes.telemetry import RecordedTelemetry

from caliper.pipeline.store.authentic_store import AuthenticStore
from caliper.pipeline.store.pack_rows import LAST_GENERATION, Frame
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.packs import pack_key
from caliper.ports.security_events import Signature, UnverifiedReply
from caliper.ports.storage import ObjectStore

OLD, NEW = b"the old key", b"the new key"
REPLY = b'{"replies":{},"run":"a"}'


class Signed:
    """A view of a store, with what it counts while tasks work on `run`."""

    def __init__(self, *keys: bytes, store: ObjectStore | None = None) -> None:
        self.telemetry, self.run = RecordedTelemetry(), ""
        self.below = MemoryStore()
        self.view = AuthenticStore(store or self.below, keys, self.telemetry, lambda: self.run)

    @property
    def refused(self) -> list[str]:
        return [str(each.signature) for each in self.telemetry.of(UnverifiedReply)]


async def test_a_reply_is_read_as_it_was_written_and_by_processes_without_a_key(
    tmp_path: Path,
) -> None:
    there = Signed(NEW)
    await there.view.put(key(1), REPLY)
    (tmp_path / "reply").write_bytes(REPLY)
    await there.view.put(key(1, "captions"), tmp_path / "reply")
    for name in (key(1), key(1, "captions")):
        assert await there.view.get(name) == REPLY
        fields = json.loads(there.below.objects[name])
        assert len(bytes.fromhex(fields.pop("mac"))) == 32
        assert fields == json.loads(REPLY)
    assert await there.view.get(key(2)) is None
    assert there.refused == []


async def test_other_objects_stay_as_they_are() -> None:
    there = Signed(NEW)
    await there.view.put("runs/a/spec.json", b"{}")
    assert there.below.objects == {"runs/a/spec.json": b"{}"}
    assert await there.view.get("runs/a/spec.json") == b"{}"


async def test_a_reply_of_another_job_or_caption_is_none_of_this_one() -> None:
    there = Signed(NEW)
    await there.view.put(key(1), REPLY)
    for other in (key(2), key(1).replace("jobs/", "captions/")):
        there.below.objects[other] = there.below.objects[key(1)]
        assert await there.view.get(other) is None
    assert there.refused == ["wrong", "wrong"]


@pytest.mark.parametrize(
    ("data", "signature"),
    [
        (REPLY, Signature.MISSING),
        (b"\xff", Signature.MISSING),
        (b'{"mac":"', Signature.WRONG),
        (b'{"mac":"' + b"\xff" * 64 + b'",' + REPLY[1:], Signature.WRONG),
    ],
)
async def test_a_reply_that_nobody_signed(data: bytes, signature: Signature) -> None:
    there = Signed(NEW)
    there.below.objects[key(1)] = data
    assert await there.view.get(key(1)) is None
    assert there.refused == [signature]


async def test_the_first_key_signs_and_all_verify() -> None:
    store = MemoryStore()
    await Signed(OLD, store=store).view.put(key(1), REPLY)
    both = Signed(NEW, OLD, store=store)
    assert await both.view.get(key(1)) == REPLY
    await both.view.put(key(2), REPLY)
    new, old = Signed(NEW, store=store), Signed(OLD, store=store)
    assert [await new.view.get(key(number)) for number in (1, 2)] == [None, REPLY]
    assert [await old.view.get(key(number)) for number in (1, 2)] == [REPLY, None]


async def test_each_run_logs_the_first_and_all_are_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    there = Signed(NEW)
    there.below.objects |= {key(number): REPLY for number in range(4)}
    with caplog.at_level(logging.WARNING):
        for number, run in enumerate(["aa", "aa", "bb", "aa"]):
            there.run = run
            await there.view.get(key(number))
    assert there.refused == ["missing"] * 4
    logged = [record.getMessage() for record in caplog.records]
    assert [(line.split(":")[0], line.split(" of ")[1][:6]) for line in logged] == [
        (key(0), "run aa"),
        (key(2), "run bb"),
    ]


async def test_a_reply_takes_the_place_of_a_forged_one_in_a_pack() -> None:
    clock = FakeClock()
    packed = PackStore(MemoryStore(), clock)
    there = Signed(NEW, store=packed)
    place = pack_key(key(1))
    assert place
    await packed.packs.write([Frame.of(place, LAST_GENERATION, REPLY)], clock.now())
    assert await there.view.get(key(1)) is None
    await there.view.put(key(1), REPLY)
    assert await there.view.get(key(1)) == REPLY
