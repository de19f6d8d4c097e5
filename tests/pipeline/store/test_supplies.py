import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.stores import MemoryStore

from caliper.core.caption import Caption, CutShort
from caliper.core.errors import DataLoss, InvalidInput
from caliper.core.keys import digest
from caliper.core.outcome import Reason
from caliper.core.question import Failure
from caliper.pipeline.store.disk_spill import SpilledTexts
from caliper.pipeline.store.runs import write_json
from caliper.pipeline.store.supplies import (
    put_captions,
    read_caption,
    read_captions,
    read_lacking,
    read_own_captions,
    save_caption,
)

RUN, SAMPLE, REFUSED = "0" * 16, "nat_000", Failure(Reason.REFUSED)
TEXTS = {"nat_001": "Two dogs.", SAMPLE: "A dog."}


@dataclass
class Noting(Mapping[str, str]):
    """Captions that note which threads look at them."""

    threads: set[int] = field(default_factory=set)

    def __getitem__(self, sample: str) -> str:
        self.threads.add(threading.get_ident())
        return TEXTS[sample]

    def __iter__(self) -> Iterator[str]:
        self.threads.add(threading.get_ident())
        return iter(TEXTS)

    def __len__(self) -> int:
        return len(TEXTS)


async def test_captions_are_packed_beside_the_loop() -> None:
    store, captions = MemoryStore(), Noting()
    name = await put_captions(store, captions)
    assert name == digest(TEXTS)
    assert list((await read_captions(store, name)).items()) == list(TEXTS.items())
    assert len(captions.threads) == 1
    assert threading.get_ident() not in captions.threads


async def test_captions_that_were_cut_are_other_ones() -> None:
    store = MemoryStore()
    cut = {**TEXTS, SAMPLE: CutShort(TEXTS[SAMPLE])}
    name = await put_captions(store, cut)
    assert name != digest(TEXTS)
    assert name == await put_captions(store, SpilledTexts(cut.items()))
    found = await read_captions(store, name)
    assert dict(found) == TEXTS
    assert [type(text) is CutShort for text in found.values()] == [False, True]


async def test_captions_that_others_lack_are_other_ones() -> None:
    store, away = MemoryStore(), {"nat_002": Failure(Reason.TIMEOUT, "away")}
    name = await put_captions(store, TEXTS, away)
    assert name not in (digest(TEXTS), await put_captions(store, TEXTS, {"nat_002": REFUSED}))
    assert (dict(await read_captions(store, name)), await read_lacking(store, name)) == (
        TEXTS, away
    )  # fmt: skip
    assert await read_lacking(store, await put_captions(store, TEXTS)) == {}
    await write_json(store, f"supplied/{name}.lacking.json", samples={"nat_002": ["no such", ""]})
    with pytest.raises(DataLoss, match=rf"{name}\.lacking\.json: not reasons"):
        await read_lacking(store, name)


async def test_what_was_written_is_read_again() -> None:
    store = MemoryStore()
    await save_caption(store, RUN, "captionqa", Caption(SAMPLE, "A do", truncated=True))
    assert await read_caption(store, RUN, "captionqa", SAMPLE) == "A do"
    assert await read_caption(store, RUN, "captionqa", "nat_001") is None
    found = await read_own_captions(store, RUN, "captionqa")
    assert dict(found) == {SAMPLE: "A do"}
    assert isinstance(found[SAMPLE], CutShort)


@given(st.dictionaries(st.text(st.characters()), st.text(st.characters()), max_size=5))
async def test_their_digest_is_that_of_all_of_them(texts: dict[str, str]) -> None:
    assert await put_captions(MemoryStore(), texts) == digest(texts)


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"sample": SAMPLE},
        {"caption": "A dog."},
        {"sample": SAMPLE, "caption": None},
        {"sample": [SAMPLE], "caption": "A dog."},
    ],
)
async def test_what_is_no_caption_is_told_with_its_place(row: dict[str, object]) -> None:
    store = MemoryStore()
    await save_caption(store, RUN, "captionqa", Caption(SAMPLE, "A dog."))
    (key,) = store.objects
    await write_json(store, key, **row)
    with pytest.raises(InvalidInput, match=key):
        await read_caption(store, RUN, "captionqa", SAMPLE)
    with pytest.raises(InvalidInput, match=key):
        await read_own_captions(store, RUN, "captionqa")
