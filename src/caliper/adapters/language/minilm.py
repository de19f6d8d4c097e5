"""Sentence embeddings by all-MiniLM-L6-v2 (CompreCap, paper 3.3), without a deep-learning library.

The tokenizer is Hugging Face's, the weights are read from safetensors, the forward pass is
numpy (bert.py).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError

from caliper.adapters.language.bert import BertEncoder
from caliper.core.errors import InvalidInput
from caliper.core.question import Vector
from caliper.core.run import Identity
from caliper.lazy import require

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
FILES = ("config.json", "tokenizer.json", "model.safetensors")
MAX_TOKENS = 256
"""The token limit of the model's own configuration; longer texts are truncated."""
FETCH = f"hf download {REPOSITORY} {' '.join(FILES)}"


TokenIds = Callable[[str], list[int]]
"""Maps a text to its token ids, including those of its start and end."""


class MiniLm:
    """Embeds texts with a sentence encoder. `revision` is the hash of the model's files."""

    def __init__(self, encoder: BertEncoder, token_ids: TokenIds, revision: str) -> None:
        self._encoder = encoder
        self._token_ids = token_ids
        self.identity = Identity("minilm", REPOSITORY, revision, cached=True)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, each of the encoder's hidden size (384)."""
        return [self._encoder.encode(self._token_ids(text)) for text in texts]


def load_embedder(folder: str | Path | None = None) -> MiniLm:
    """Load the embedder from a folder with `FILES`, by default from the hub or its cache.

    Raises InvalidInput that says what to install or fetch if something is missing, and if the
    folder does not contain a BERT encoder.
    """
    tokenizers, safetensors = require("tokenizers"), require("safetensors")
    arrays = require("safetensors.numpy")
    directory = _download() if folder is None else Path(folder)
    missing = [name for name in FILES if not (directory / name).is_file()]
    if missing:
        message = (
            f"{', '.join(missing)} missing; fetch the model with: {FETCH} --local-dir {directory}"
        )
        raise InvalidInput(message, file=str(directory))
    try:
        config = json.loads((directory / "config.json").read_text("utf-8"))
        weights = arrays.load_file(str(directory / "model.safetensors"))
        heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
        encoder = BertEncoder(weights, heads, epsilon)
    except (KeyError, ValueError, safetensors.SafetensorError) as error:
        raise InvalidInput(f"not a BERT encoder: {error}", file=str(directory)) from error
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(MAX_TOKENS, encoder.positions))
    return MiniLm(encoder, lambda text: list(tokenizer.encode(text).ids), _revision(directory))


def _download() -> Path:
    try:
        return Path(snapshot_download(REPOSITORY, allow_patterns=list(FILES)))
    except (HfHubHTTPError, OSError) as error:
        reason = " ".join(str(error).split())
        message = f"the model cannot be fetched; where there is a network: {FETCH}\n{reason}"
        raise InvalidInput(message) from error


def _revision(folder: Path) -> str:
    state = hashlib.sha256()
    for name in FILES:
        with (folder / name).open("rb") as content:
            state.update(hashlib.file_digest(content, "sha256").digest())
    return state.hexdigest()
