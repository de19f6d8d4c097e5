"""What runs leave behind: few objects, whose replies are neither lost nor asked again."""

from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.clock import FakeClock
from tests.fakes.installation import installation, over
from tests.fakes.small_runs import example, rows_of
from tests.fakes.stores import MemoryStore

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.run import RunState
from caliper.local.submission import send
from caliper.pipeline.gateway.purge import Retention, delete_run, old_runs
from caliper.pipeline.store.pack_store import PackStore
from caliper.pipeline.store.packer import GRACE, Packer
from caliper.ports.storage import DeletableStore, ObjectStore
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings


async def evaluated(gateway: RemoteGateway, store: MemoryStore, name: str) -> str:
    begun = await send(example(name=name), gateway)
    ended = await over(gateway, begun.spec.run_id)
    assert ended.state in (RunState.COMPLETE, RunState.FINISHED), ended.error
    return begun.spec.run_id


async def pack(store: DeletableStore) -> None:
    clock = FakeClock()
    packer = Packer(PackStore(store, clock), clock, fewest=2)
    await packer.merge()
    clock.seconds += GRACE
    await packer.sweep()


async def counts(store: ObjectStore) -> Mapping[str, int]:
    return Counter([key.partition("/")[0] async for key in store.list("")])


def services(
    store: MemoryStore, model: str, *keys: bytes
) -> AbstractAsyncContextManager[RemoteGateway]:
    return installation(
        memory_ground(store).with_reply_keys(keys),
        JudgeSettings(model=model, anchors=False),
        QaReaderSettings(model=model, anchors=False),
        CaptionerSettings(model=model),
    )


async def test_replies_are_packed_and_found_by_the_next_run() -> None:
    store = MemoryStore()
    async with ChatServer(otherwise=answer("A")) as chat:
        model = f"tgi:{chat.url}"
        async with services(store, model) as gateway:
            first = await evaluated(gateway, store, "first")
            rows, asked = await rows_of(gateway, first), len(chat.requests)
        captions = sum(key.startswith(f"runs/{first}/captions/") for key in store.objects)
        assert captions > 3
        await pack(store)
        packed = await counts(store)
        assert (packed["jobs"], packed["captions"], packed["packs"]) == (0, 0, 1)
        # Other processes, which know of no packs yet.
        async with services(store, model) as gateway:
            second = await evaluated(gateway, store, "second")
            assert len(chat.requests) == asked
            assert await rows_of(gateway, second) == rows
    await _purged(store, captions)


async def _purged(store: MemoryStore, captions: int) -> None:
    clock = SystemClock()
    packed = PackStore(store, clock)
    old = [each async for each in old_runs(packed, Retention(), clock.now() + timedelta(hours=3))]
    assert len(old) == 2
    assert all([await delete_run(packed, each) for each in old])
    assert not any(key.startswith(("runs/", "jobs/")) for key in store.objects)
    # The captioner's replies stay: other runs may use them.
    (name,) = [key for key in store.objects if key.startswith("packs/")]
    assert name.rpartition("-")[2] == f"{captions}.pack"


async def test_with_a_key_replies_from_before_are_asked_again_once() -> None:
    store, asked, rows = MemoryStore(), list[int](), []
    async with ChatServer(otherwise=answer("A")) as chat:
        for names, keys in {("before",): (), ("first", "second"): (b"key",)}.items():
            async with services(store, f"tgi:{chat.url}", *keys) as gateway:
                for name in names:
                    rows.append(await rows_of(gateway, await evaluated(gateway, store, name)))
                    asked.append(len(chat.requests))
    assert asked == [asked[0], 2 * asked[0], 2 * asked[0]]
    assert rows[0] == rows[1] == rows[2]
