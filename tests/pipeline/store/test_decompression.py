"""Few bytes in a store that unpack to many: an error within bounded memory, wherever they are."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes import runs
from tests.fakes.packs import Installation, key
from tests.fakes.stores import MemoryStore

from caliper.core.errors import DataLoss, InvalidInput
from caliper.pipeline.ledger.ledger import Columns
from caliper.pipeline.ledger.offsets import LogOffsets
from caliper.pipeline.ledger.snapshots import RunSnapshot, Snapshot, decode, encode
from caliper.pipeline.ledger.verdict_log import SegmentCache
from caliper.pipeline.planning.job_queue import read_queue
from caliper.pipeline.store.caption_archive import read_archive
from caliper.pipeline.store.decompression import MOST_UNPACKED, gunzip, inflate
from caliper.pipeline.store.pack_rows import Frame
from caliper.pipeline.store.packs import pack_key
from caliper.pipeline.store.plan import plan, read_shard
from caliper.pipeline.store.supplies import read_captions

NAME = "c" * 64


@pytest.fixture(scope="module")
def bomb() -> bytes:
    return gzip.compress(bytes(MOST_UNPACKED + 1), 1, mtime=0)


# With a time in it, each worker would name its tests differently.
_PACKED = gzip.compress(b"a", mtime=0)


@pytest.mark.parametrize(("pack", "unpack"), [(gzip.compress, gunzip), (zlib.compress, inflate)])
def test_what_unpacks_to_too_much_takes_little_memory(
    pack: Callable[[bytes], bytes], unpack: Callable[[bytes, int], bytes]
) -> None:
    data = pack(bytes(20_000_000))
    assert unpack(data, 20_000_000) == bytes(20_000_000)
    tracemalloc.start()
    with pytest.raises(ValueError, match="more than 100000 bytes"):
        unpack(data, 100_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "truncated"),
        (b"rubbish", "incorrect header"),
        (_PACKED[:-1], "truncated"),
        (_PACKED + b"b", "data after its end"),
    ],
)
def test_what_is_not_packed_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        gunzip(data)


async def test_a_shard_of_a_plan(bomb: bytes) -> None:
    store = MemoryStore()
    found = {"captionqa": runs.sources(runs.choice_rows(1, 1), {})}
    summary = await plan(runs.spec(), found, store)
    store.objects["plan/000000.jsonl.gz"] = bomb
    with pytest.raises(DataLoss, match=r"plan/000000\.jsonl\.gz: .*unpacks to more"):
        await read_shard(store, summary, 0)


async def test_a_segment_of_verdicts(bomb: bytes) -> None:
    store = MemoryStore()
    store.objects["verdicts/00000000.jsonl.gz"] = bomb
    with pytest.raises(DataLoss, match=r"verdicts/00000000\.jsonl\.gz: .*unpacks to more"):
        await SegmentCache(store).get("verdicts/00000000.jsonl.gz")


async def test_a_shard_of_jobs(bomb: bytes) -> None:
    store = MemoryStore()
    store.objects["queue/0000000001/000000.gz"] = bomb
    with pytest.raises(DataLoss, match=r"queue/0000000001/000000\.gz: .*unpacks to more"):
        await read_queue(store, 1, 0)


async def test_supplied_captions(bomb: bytes) -> None:
    store = MemoryStore()
    store.objects[f"supplied/{NAME}.jsonl.gz"] = bomb
    with pytest.raises(DataLoss, match=rf"{NAME}\.jsonl\.gz: .*unpacks to a line"):
        await read_captions(store, NAME)


def test_many_lines_of_supplied_captions(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    line = b'{"sample": "a", "caption": "A dog."}\n'
    archive.write_bytes(gzip.compress(line * 100))
    assert len(read_archive(archive, len(line), 100 * len(line))[0]) == 1
    for bounds in ((len(line) - 1, 10_000), (1_000, 100 * len(line) - 1)):
        with pytest.raises(ValueError, match="it unpacks to"):
            read_archive(archive, *bounds)


async def test_a_reply_in_a_pack(caplog: pytest.LogCaptureFixture) -> None:
    there = Installation()
    packed = pack_key(key(1))
    assert packed is not None
    bomb = Frame(packed, 0, zlib.compress(bytes(MOST_UNPACKED + 1), 1))
    await there.front.packs.write([bomb], there.clock.now())
    # As any damaged reply: it is asked for again.
    assert await there.front.get(key(1)) == b""
    assert "unpacks to more" in caplog.text


def test_a_snapshot() -> None:
    columns = Columns(bytearray(MOST_UNPACKED + 1))
    bomb = Snapshot(1, LogOffsets({}, {}), {}, {"a": RunSnapshot({}, columns, current=False)})
    with pytest.raises(InvalidInput, match=r"not a snapshot: .*unpacks to more"):
        decode(encode(bomb))
