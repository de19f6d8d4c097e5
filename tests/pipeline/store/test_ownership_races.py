"""Content that another caller stores between two reads of whose it is and whether it is there."""

import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.fakes.stores import MemoryStore

from caliper.core.owners import Owner, Viewer
from caliper.pipeline.store.dataset_pushes import may_use
from caliper.pipeline.store.dataset_uploads import DatasetManifest, DatasetUpload
from caliper.pipeline.store.owners import Ownership, caption_owners, dataset_owners
from caliper.pipeline.store.store_supplies import StoredSupplies
from caliper.pipeline.store.supplies import put_captions

DATA = b'{"file_id": "s0"}\n'
SHA256 = hashlib.sha256(DATA).hexdigest()


def of(name: str, team: str) -> Ownership:
    return Ownership(lambda: Viewer(Owner(name, team)))


class OvertakenStore(MemoryStore):
    """Another caller stores something right after the first read."""

    def __init__(self, other: Callable[[MemoryStore], Awaitable[object]]) -> None:
        super().__init__()
        self._others = [other]

    async def after(self, call: str, key: str) -> None:
        if call in ("get", "version") and self._others:
            await self._others.pop()(self)


async def push(store: MemoryStore, owner: Ownership, folder: Path) -> str:
    (folder / "data.jsonl").write_bytes(DATA)
    manifest = DatasetManifest("capability", {"data.jsonl": SHA256}, folder=False)
    upload = DatasetUpload(store, manifest, owner)
    await upload.put(SHA256, folder / "data.jsonl")
    assert await upload.finish() == []
    return upload.digest


async def test_of_two_who_push_a_dataset_at_once_both_may_use_it(tmp_path: Path) -> None:
    ana, cleo = of("ana", "red"), of("cleo", "blue")
    store = OvertakenStore(lambda store: push(store, ana, tmp_path))
    digest = await push(store, cleo, tmp_path)
    assert all([await may_use(store, digest, each) for each in (ana, cleo)])


async def test_a_dataset_that_comes_meanwhile_is_not_everybodys(tmp_path: Path) -> None:
    digest = await push(MemoryStore(), of("ana", "red"), tmp_path)
    store = OvertakenStore(lambda store: push(store, of("ana", "red"), tmp_path))
    assert not await may_use(store, digest, of("cleo", "blue"))
    assert dataset_owners(digest) in store.objects


async def test_captions_that_come_meanwhile_are_not_everybodys() -> None:
    digest = await put_captions(MemoryStore(), {"s0": "a park"})

    async def upload(store: MemoryStore) -> None:
        await of("ana", "red").claim(store, caption_owners(digest), f"supplied/{digest}")
        await put_captions(store, {"s0": "a park"})

    supplies = StoredSupplies(OvertakenStore(upload), lambda _: None, of("cleo", "blue"))  # type: ignore[arg-type, return-value]
    assert not await supplies.has_captions(digest)


async def test_of_two_who_claim_content_at_once_both_own_it() -> None:
    key, content = "supplied/a.owners.json", "supplied/a.jsonl.gz"
    ana, cleo = of("ana", "red"), of("cleo", "blue")

    async def upload(store: MemoryStore) -> None:
        await ana.claim(store, key, content)
        await store.put(content, b"captions")

    store = OvertakenStore(upload)
    await cleo.claim(store, key, content)
    assert all(each in store.objects[key] for each in (b"ana", b"cleo"))
