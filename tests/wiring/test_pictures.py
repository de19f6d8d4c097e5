import asyncio
import hashlib
import io

import pytest
from PIL import Image
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore

from caliper.adapters.media.bounds import THUMBNAIL_CLIP_BYTES, MediaLimits
from caliper.pipeline.store.media_index import MediaIndex
from caliper.pipeline.store.runs import write_json
from caliper.ports.storage import ObjectStore
from caliper.wiring.pictures import StoredPictures
from caliper.wiring.service_settings import AggregatorSettings, GatewaySettings

SPEC = runs.spec()
PART = SPEC.benchmarks[0]


def png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 20), "red").save(out, "PNG")
    return out.getvalue()


class LimitRecordingStore(MemoryStore):
    """Remembers the most bytes that media may have."""

    def __init__(self) -> None:
        super().__init__()
        self.most: list[int | None] = []

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        if key.startswith("media/"):
            self.most.append(max_bytes)
        return await super().get(key, max_bytes)


async def stored(path: str, data: bytes) -> LimitRecordingStore:
    store, digest = LimitRecordingStore(), hashlib.sha256(data).hexdigest()
    await store.put(f"media/{digest}", data)
    await write_json(store, f"datasets/{PART.data}/media.json", media={path: digest})
    return store


async def jpeg(store: ObjectStore, path: str, limits: MediaLimits) -> bytes | None:
    pictures = StoredPictures(store, MediaIndex(store, FakeClock()), limits)
    return await asyncio.to_thread(pictures(SPEC), PART.name, path)


async def test_pictures_keep_to_the_limits() -> None:
    store = await stored("a.png", png())
    assert await jpeg(store, "a.png", MediaLimits())
    assert await jpeg(store, "a.png", MediaLimits(pixels=799)) is None
    assert await jpeg(store, "a.png", MediaLimits(picture_bytes=10)) is None
    assert await jpeg(store, "b.png", MediaLimits()) is None


async def test_a_picture_that_was_changed_is_not_shown() -> None:
    store = await stored("a.png", png())
    (key,) = (key for key in store.objects if key.startswith("media/"))
    store.objects[key] += b"\0"
    assert await jpeg(store, "a.png", MediaLimits()) is None


async def test_many_callers_wait_for_their_turn() -> None:
    store = await stored("a.png", png())
    pictures = StoredPictures(store, MediaIndex(store, FakeClock()), MediaLimits())
    # More than the event loop has threads.
    asking = [asyncio.to_thread(pictures(SPEC), PART.name, "a.png") for _ in range(100)]
    assert all(await asyncio.gather(*asking))


async def test_a_large_clip_is_not_fetched() -> None:
    store = await stored("a.mp4", b"x")
    assert await jpeg(store, "a.mp4", MediaLimits()) is None
    assert await jpeg(store, "a.mp4", MediaLimits(clip_bytes=9)) is None
    assert store.most == [THUMBNAIL_CLIP_BYTES, 9]


@pytest.mark.parametrize("kind", [AggregatorSettings, GatewaySettings])
def test_their_limits_are_settings(
    kind: type[AggregatorSettings | GatewaySettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{kind.model_config['env_prefix']}MEDIA_PIXELS", "799")
    assert kind().media_limits() == MediaLimits(pixels=799)
