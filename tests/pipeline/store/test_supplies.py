import gzip
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
    caption_key,
    put_captions,
    read_caption,
    read_captions,
    read_own_captions,
    read_supplied,
    save_caption,
)

RUN, SAMPLE, REFUSED = "0" * 16, "nat_000", Failure(Reason.REFUSED)
TEXTS = {"nat_001": "Two dogs.", SAMPLE: "A dog."}


@dataclass
class TracedCaptions(Mapping[str, str]):
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
    store, captions = MemoryStore(), TracedCaptions()
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


@pytest.mark.parametrize("place", range(12, 90, 13))
async def test_an_upload_that_is_damaged_is_named(place: int) -> None:
    store = MemoryStore()
    name = await put_captions(store, {**TEXTS, "third": "".join(map(chr, range(32, 300)))})
    (key,) = store.objects
    data = bytearray(store.objects[key])
    data[place] ^= 0xFF
    store.objects[key] = bytes(data)
    with pytest.raises(DataLoss, match=key):
        await read_captions(store, name)


async def test_captions_that_are_nested_too_deeply() -> None:
    store = MemoryStore()
    name = await put_captions(store, TEXTS)
    key = f"supplied/{name}.jsonl.gz"
    store.objects[key] = gzip.compress(b"[" * 10_000)
    with pytest.raises(DataLoss, match=f"{key}: not captions"):
        await read_captions(store, name)


async def test_captions_that_others_lack_are_other_ones() -> None:
    store, away = MemoryStore(), {"nat_002": Failure(Reason.TIMEOUT, "away")}
    name = await put_captions(store, TEXTS, away)
    assert name not in (digest(TEXTS), await put_captions(store, TEXTS, {"nat_002": REFUSED}))
    assert await supplied(store, name) == (TEXTS, away)
    assert await supplied(store, await put_captions(store, TEXTS)) == (TEXTS, {})
    await write_json(store, f"supplied/{name}.lacking.json", samples={"nat_002": ["no such", ""]})
    with pytest.raises(DataLoss, match=rf"{name}\.lacking\.json: not reasons"):
        await read_supplied(store, name)


async def supplied(store: MemoryStore, name: str) -> tuple[dict[str, str], dict[str, Failure]]:
    captions, lacking = await read_supplied(store, name)
    return dict(captions), dict(lacking)


@pytest.mark.parametrize("lacking", [{}, {"nat_002": REFUSED}])
async def test_captions_that_were_changed_are_refused(lacking: Mapping[str, Failure]) -> None:
    store = MemoryStore()
    name = await put_captions(store, TEXTS, lacking)
    other = await put_captions(store, {**TEXTS, SAMPLE: "Green."}, lacking)
    key = f"supplied/{name}.jsonl.gz"
    store.objects[key] = store.objects[key.replace(name, other)]
    with pytest.raises(DataLoss, match=f"{key}: not the captions that were supplied"):
        await read_captions(store, name)
    assert await put_captions(store, TEXTS, lacking) == name
    assert await supplied(store, name) == (TEXTS, lacking)


@pytest.mark.parametrize("lacking", [{}, {"nat_002": REFUSED}])
async def test_reasons_that_were_changed_are_not_believed(lacking: Mapping[str, Failure]) -> None:
    store = MemoryStore()
    name = await put_captions(store, TEXTS, lacking)
    key = f"supplied/{name}.lacking.json"
    await write_json(store, key, samples={"nat_002": [Reason.TIMEOUT, ""]})
    if not lacking:
        assert await supplied(store, name) == (TEXTS, {})
        return
    for _ in range(2):
        with pytest.raises(DataLoss, match="not the captions that were supplied"):
            await read_supplied(store, name)
        store.objects.pop(key, None)


async def test_the_caption_of_another_sample_is_refused() -> None:
    store = MemoryStore()
    for sample in TEXTS:
        await save_caption(store, RUN, "captionqa", Caption(sample, "A dog."))
    ours, others = (caption_key(RUN, "captionqa", each) for each in (SAMPLE, "nat_001"))
    store.objects[ours] = store.objects[others]
    with pytest.raises(DataLoss, match=f"{ours}: the caption of another sample"):
        await read_caption(store, RUN, "captionqa", SAMPLE)


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
