"""The forward pass of a BERT encoder in numpy: from token ids to one vector per text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from caliper.core.question import Vector
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import special
else:
    special = lazy_module("scipy.special")

Array = NDArray[np.float32]


class BertEncoder:
    """A BERT encoder with mean pooling, the architecture of sentence encoders such as MiniLM.

    `weights` are float32 arrays under the names of Hugging Face's BertModel, `heads` is the
    number of attention heads, `epsilon` that of layer normalisation. Each text is encoded alone
    and without padding, so that its vector does not depend on other texts. Raises KeyError if a
    weight is missing.
    """

    def __init__(self, weights: Mapping[str, Array], heads: int, epsilon: float) -> None:
        self._weights = weights
        self._heads = heads
        self._epsilon = epsilon
        self._words = weights["embeddings.word_embeddings.weight"]
        self._positions = weights["embeddings.position_embeddings.weight"]
        self._segment = weights["embeddings.token_type_embeddings.weight"][0]
        layers = {name.split(".")[2] for name in weights if name.startswith("encoder.layer.")}
        self._layers = [f"encoder.layer.{number}" for number in range(len(layers))]

    @property
    def positions(self) -> int:
        """The most token ids that a text may have."""
        return len(self._positions)

    def encode(self, ids: Sequence[int]) -> Vector:
        """The mean of the last layer over all tokens: a vector of the hidden size."""
        hidden = self._words[list(ids)] + self._positions[: len(ids)] + self._segment
        hidden = self._normalise(hidden, "embeddings")
        for layer in self._layers:
            attended = self._attend(hidden, f"{layer}.attention.self")
            attended = self._dense(attended, f"{layer}.attention.output.dense")
            hidden = self._normalise(hidden + attended, f"{layer}.attention.output")
            inner = _gelu(self._dense(hidden, f"{layer}.intermediate.dense"))
            inner = self._dense(inner, f"{layer}.output.dense")
            hidden = self._normalise(hidden + inner, f"{layer}.output")
        return tuple(hidden.mean(axis=0, dtype=np.float64).tolist())

    def _attend(self, hidden: Array, name: str) -> Array:
        """Scaled dot-product self-attention; input and output have shape (tokens, hidden)."""
        tokens, width = hidden.shape
        query, key, value = (
            self._dense(hidden, f"{name}.{part}")
            .reshape(tokens, self._heads, width // self._heads)
            .transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(width // self._heads))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = scores / scores.sum(axis=-1, keepdims=True) @ value
        return np.ascontiguousarray(mixed.transpose(1, 0, 2)).reshape(tokens, width)

    def _dense(self, hidden: Array, name: str) -> Array:
        product: Array = hidden @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return product

    def _normalise(self, hidden: Array, name: str) -> Array:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        scale = self._weights[f"{name}.LayerNorm.weight"]
        shift = self._weights[f"{name}.LayerNorm.bias"]
        normal: Array = centred / np.sqrt(variance + np.float32(self._epsilon)) * scale + shift
        return normal


def _gelu(hidden: Array) -> Array:
    half = np.float32(0.5)
    activation: Array = half * hidden * (1 + special.erf(hidden * np.sqrt(half)))
    return activation
