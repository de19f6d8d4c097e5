"""Embeddings on the real Triton server, from texts and from token ids."""

import importlib.util
import json
import math
import sys
import types
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from caliper.adapters.models.pool import EmbedderPool
from caliper.adapters.models.retries import Budget
from caliper.adapters.models.triton_embedder import TritonEmbedder, parse_embedder_addresses
from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.wiring.clock import SystemClock

Opening = Callable[[str], Awaitable[EmbedderPool]]


@pytest.fixture
async def opened(triton: str) -> AsyncIterator[Opening]:
    """Opens embedders of the session's server, and closes them after the test."""
    async with AsyncExitStack() as stack:

        async def opening(rest: str) -> EmbedderPool:
            (address,) = parse_embedder_addresses(f"{triton}/{rest}")
            endpoints = [(address.target, TritonEmbedder(address, seconds=10))]
            pool = EmbedderPool(endpoints, SystemClock(), budget=Budget(seconds=0))
            stack.push_async_callback(pool.close)
            await pool.resolve()
            return pool

        yield opening


def cosine(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_each_text_has_a_vector(opened: Opening) -> None:
    embedder = await opened("sentences")
    dog, dogs, cat = await embedder.embed(["dog", "dogs", "cat"])
    assert {len(dog), len(dogs), len(cat)} == {256}
    assert math.isclose(cosine(dog, dog), 1, abs_tol=1e-6)
    assert cosine(dog, dogs) > cosine(dog, cat)
    assert (embedder.identity.kind, embedder.identity.cached) == ("triton", True)
    assert (embedder.identity.revision, embedder.identity.origin[:2]) == ("", "1-")
    assert (await opened("sentences#revision=7")).identity.revision == "7"


async def test_more_texts_than_a_batch_takes_keep_their_order(opened: Opening) -> None:
    embedder = await opened("sentences#text=text&embedding=embedding")
    texts = [f"word {number}" for number in range(150)]
    together = await embedder.embed(texts)
    assert len(together) == 150
    assert [*await embedder.embed(texts[:1]), *await embedder.embed(texts[149:])] == [
        together[0],
        together[149],
    ]


async def test_no_texts_are_no_vectors(opened: Opening) -> None:
    assert await (await opened("sentences")).embed([]) == []


class Letters:
    """As the library's: the ids of a text are its letters' places in the alphabet."""

    @classmethod
    def from_str(cls, written: str) -> "Letters":
        json.loads(written)
        return cls()

    def no_padding(self) -> None: ...

    def encode(self, text: str) -> types.SimpleNamespace:
        return types.SimpleNamespace(ids=[ord(letter) - ord("a") + 1 for letter in text])


@pytest.fixture
def tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the package of that name, which tests do without."""
    library = types.ModuleType("tokenizers")
    library.Tokenizer = Letters  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tokenizers", library)


@pytest.mark.usefixtures("tokenizers")
async def test_token_ids_are_sent_and_the_vectors_of_tokens_averaged(
    opened: Opening, tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    embedder = await opened(f"token_ids#tokenizer={tmp_path}")
    assert await embedder.embed(["ac", "b"]) == [(2.0, 5.0, 1.0, 0.0), (2.0, 4.0, 1.0, 0.0)]
    (tmp_path / "tokenizer.json").write_text("{ }")
    assert (await opened(f"token_ids#tokenizer={tmp_path}")).identity != embedder.identity
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(InvalidInput, match="not a tokenizer"):
        await opened(f"token_ids#tokenizer={tmp_path}")


async def test_token_ids_need_the_library(opened: Opening, tmp_path: Path) -> None:
    if importlib.util.find_spec("tokenizers"):
        pytest.skip("the package tokenizers is installed")
    with pytest.raises(InvalidInput, match="needs tokenizers: pip install"):
        await opened(f"token_ids#tokenizer={tmp_path}")


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("captioner", r"output caption: expected FP32 \[-1\] or \[-1, -1\], found BYTES"),
        ("token_ids", r"input input_ids: expected BYTES \[1\], found INT64 \[-1\]"),
        ("sentences#embedding=vector", "no such tensor among embedding"),
        ("sentences#text=words", "no such tensor among text"),
    ],
)
async def test_what_does_not_fit_is_told_at_start_up(opened: Opening, rest: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        await opened(rest)


@pytest.mark.usefixtures("tokenizers")
async def test_what_is_no_number_is_no_embedding(opened: Opening, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    embedder = await opened(f"token_ids#tokenizer={tmp_path}")
    with pytest.raises(BackendUnavailable, match="not a number"):
        # The sign before the letter a in ASCII: id 0.
        await embedder.embed(["`"])
