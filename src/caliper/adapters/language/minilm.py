"""Sentence embeddings by all-MiniLM-L6-v2 (CompreCap, paper 3.3), without a deep-learning library.

The tokenizer is Hugging Face's, the weights are read from safetensors, the forward pass is
numpy (bert.py).
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Protocol

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError

from caliper.adapters.language.bert import BertEncoder
from caliper.core.errors import InvalidInput
from caliper.core.question import Vector
from caliper.core.run import Identity

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
FILES = ("config.json", "tokenizer.json", "model.safetensors")
MAX_TOKENS = 256
"""The most tokens of a text that the model's own configuration lets through."""
INSTALL = "pip install 'tokenizers>=0.21' 'safetensors>=0.5'"
FETCH = f"hf download {REPOSITORY} {' '.join(FILES)}"


class TokenEncoding(Protocol):
    """What is used of a tokenized text."""

    @property
    def ids(self) -> list[int]: ...


class SentenceTokenizer(Protocol):
    """What is used of a tokenizer."""

    def encode(self, sequence: str) -> TokenEncoding:
        """The token ids of a text, with those that begin and end it."""
        ...


class MiniLm:
    """Embeds by a sentence encoder. `revision` changes with its files."""

    def __init__(self, encoder: BertEncoder, tokenizer: SentenceTokenizer, revision: str) -> None:
        self._encoder = encoder
        self._tokenizer = tokenizer
        self._identity = Identity("minilm", REPOSITORY, revision, cached=True)

    @property
    def identity(self) -> Identity:
        """Kind minilm; the revision is the hash of the model's files."""
        return self._identity

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, each as long as the encoder's hidden size (384)."""
        return [self._encoder.encode(self._tokenizer.encode(text).ids) for text in texts]


def load_embedder(folder: str | Path | None = None) -> MiniLm:
    """The embedder from a folder with `FILES`, or from the hub (and its cache) without one.

    Raises InvalidInput that says what to install or fetch when something is missing, and when
    the folder holds no BERT encoder.
    """
    tokenizers, safetensors, arrays = _libraries()
    where = _fetched() if folder is None else Path(folder)
    missing = [name for name in FILES if not (where / name).is_file()]
    if missing:
        message = f"{', '.join(missing)} missing; fetch the model with: {FETCH} --local-dir {where}"
        raise InvalidInput(message, file=str(where))
    try:
        config = json.loads((where / "config.json").read_text("utf-8"))
        weights = arrays.load_file(str(where / "model.safetensors"))
        heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
        encoder = BertEncoder(weights, heads, epsilon)
    except (KeyError, ValueError, safetensors.SafetensorError) as error:
        raise InvalidInput(f"this is no BERT encoder: {error}", file=str(where)) from error
    tokenizer = tokenizers.Tokenizer.from_file(str(where / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(MAX_TOKENS, encoder.positions))
    return MiniLm(encoder, tokenizer, _revision(where))


def _libraries() -> Iterator[ModuleType]:
    try:
        for name in ("tokenizers", "safetensors", "safetensors.numpy"):
            yield importlib.import_module(name)
    except ImportError as error:
        message = f"MiniLM needs tokenizers and safetensors; install them with: {INSTALL}"
        raise InvalidInput(message) from error


def _fetched() -> Path:
    try:
        return Path(snapshot_download(REPOSITORY, allow_patterns=list(FILES)))
    except (HfHubHTTPError, OSError) as error:
        why = " ".join(str(error).split())
        message = f"the model cannot be fetched; where there is a network: {FETCH}\n{why}"
        raise InvalidInput(message) from error


def _revision(folder: Path) -> str:
    state = hashlib.sha256()
    for name in FILES:
        with (folder / name).open("rb") as content:
            state.update(hashlib.file_digest(content, "sha256").digest())
    return state.hexdigest()
