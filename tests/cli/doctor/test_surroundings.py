from pathlib import Path

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.stores import MemoryStore

from caliper.cli.doctor.findings import ComponentState
from caliper.cli.doctor.surroundings import (
    PROBE,
    check_disk,
    check_embedder,
    check_media,
    check_store,
    check_tagger,
)
from caliper.core.errors import InvalidInput
from caliper.wiring.models import Access, ModelRoom


@pytest.fixture
def room() -> ModelRoom:
    return ModelRoom(Access(), FakeClock())


def test_a_disk_is_that_of_the_nearest_folder_that_is_there(tmp_path: Path) -> None:
    found = check_disk("disk", tmp_path / "runs" / "one")
    assert str(tmp_path) in found.message
    assert "runs" not in found.message
    assert found.facts["free_bytes"] > 0
    assert not list(tmp_path.iterdir())


def test_media_that_the_examples_have_can_be_read() -> None:
    assert {"jpeg", "png", "h264"} <= set(check_media("media").facts["formats"])


def test_a_tagger(room: ModelRoom) -> None:
    assert check_tagger("tagger", room, "rules").state is ComponentState.OK


async def test_an_embedder(room: ModelRoom) -> None:
    found = await check_embedder("embedder", room, "ngram")
    assert found.state is ComponentState.OK
    assert found.facts["dimensions"] > 1
    with pytest.raises(InvalidInput):
        await check_embedder("embedder", room, "minilm:nowhere")


class Forgetful(MemoryStore):
    """Keeps what it is given to itself."""

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        return None


async def test_a_store_gives_back_what_was_written() -> None:
    store = MemoryStore()
    assert (await check_store("store", store, "there")).state is ComponentState.OK
    assert [key async for key in store.list("")] == [PROBE]
    assert (await check_store("store", Forgetful(), "there")).state is ComponentState.PROBLEM
