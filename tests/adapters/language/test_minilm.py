from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from caliper.adapters.language.bert import BertEncoder
from caliper.adapters.language.minilm import FILES, MiniLm, load_embedder
from caliper.core.errors import InvalidInput

CONFIG = {"num_attention_heads": 2, "layer_norm_eps": 1e-12}


class Letters:
    """A tokenizer that knows five letters and truncates to four tokens."""

    def __init__(self) -> None:
        self.limit = 4

    def encode(self, sequence: str) -> SimpleNamespace:
        return SimpleNamespace(ids=["abcde".index(letter) for letter in sequence][: self.limit])

    def no_padding(self) -> None: ...

    def enable_truncation(self, most: int) -> None:
        self.limit = most


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch, weights: dict[str, Any]) -> None:
    """Stand-ins for the two optional libraries, which read what the test has in mind."""

    def load_file(path: str) -> dict[str, Any]:
        return weights if Path(path).read_bytes() == b"weights" else {}

    arrays = SimpleNamespace(load_file=load_file)
    safetensors = SimpleNamespace(numpy=arrays, SafetensorError=EOFError)
    tokenizer = SimpleNamespace(from_file=lambda _: Letters())
    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(Tokenizer=tokenizer))
    monkeypatch.setitem(sys.modules, "safetensors", safetensors)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", arrays)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).write_bytes(b"weights")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path


async def test_each_text_is_encoded_alone(weights: dict[str, Any]) -> None:
    encoder = BertEncoder(weights, 2, 1e-12)
    embedder = MiniLm(encoder, lambda text: Letters().encode(text).ids, "r")
    assert await embedder.embed(["abc", "d"]) == [encoder.encode([0, 1, 2]), encoder.encode([3])]
    assert (embedder.identity.kind, embedder.identity.cached) == ("minilm", True)


@pytest.mark.usefixtures("libraries")
async def test_a_folder_is_loaded_and_hashed(folder: Path, weights: dict[str, Any]) -> None:
    embedder = load_embedder(folder)
    # Truncated to the five positions that the encoder knows.
    assert await embedder.embed(["abcdeabc"]) == [
        BertEncoder(weights, 2, 1e-12).encode([0, 1, 2, 3, 4])
    ]
    before = embedder.identity.revision
    (folder / "tokenizer.json").write_text("{}")
    assert load_embedder(folder).identity.revision != before


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("name", "content"), [("config.json", b"{}"), ("config.json", b"{"), (FILES[2], b"other")]
)
def test_a_folder_with_something_else_is_refused(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(InvalidInput, match="not a BERT encoder"):
        load_embedder(folder)


@pytest.mark.usefixtures("libraries")
def test_missing_files_are_named_with_the_command_that_fetches_them(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"tokenizer.json.* missing; .* hf download sentence-tr"):
        load_embedder(tmp_path)


def test_missing_libraries_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(
        InvalidInput, match=r"needs tokenizers: pip install 'caliper-captions\[minilm\]'"
    ):
        load_embedder(tmp_path)
