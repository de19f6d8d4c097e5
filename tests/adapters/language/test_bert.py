from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from caliper.adapters.language.bert import BertEncoder

Weights = dict[str, Any]
EPSILON = 1e-12
IDS = [3, 1, 4, 1]


def dense(weights: Weights, name: str, vector: list[float]) -> list[float]:
    rows, bias = weights[f"{name}.weight"].tolist(), weights[f"{name}.bias"].tolist()
    return [
        sum(w * x for w, x in zip(row, vector, strict=True)) + b
        for row, b in zip(rows, bias, strict=True)
    ]


def normalise(weights: Weights, name: str, vector: list[float]) -> list[float]:
    mean = sum(vector) / len(vector)
    spread = math.sqrt(sum((x - mean) ** 2 for x in vector) / len(vector) + EPSILON)
    scale = weights[f"{name}.LayerNorm.weight"].tolist()
    shift = weights[f"{name}.LayerNorm.bias"].tolist()
    return [(x - mean) / spread * w + b for x, w, b in zip(vector, scale, shift, strict=True)]


def attend(weights: Weights, name: str, hidden: list[list[float]], heads: int) -> list[list[float]]:
    size = len(hidden[0]) // heads
    query, key, value = (
        [dense(weights, f"{name}.{part}", token) for token in hidden]
        for part in ("query", "key", "value")
    )
    mixed = [[0.0] * len(hidden[0]) for _ in hidden]
    for head in range(heads):
        places = range(head * size, (head + 1) * size)
        for token, asked in enumerate(query):
            scores = [math.exp(sum(asked[p] * k[p] for p in places) / math.sqrt(size)) for k in key]
            for place in places:
                weighted = sum(s * v[place] for s, v in zip(scores, value, strict=True))
                mixed[token][place] = weighted / sum(scores)
    return mixed


def expected(weights: Weights, ids: list[int], heads: int) -> list[float]:
    """The forward pass as the BERT paper writes it, in plain Python, number by number."""
    words, positions, kinds = (
        weights[f"embeddings.{part}_embeddings.weight"].tolist()
        for part in ("word", "position", "token_type")
    )
    hidden = [
        normalise(
            weights,
            "embeddings",
            [w + p + k for w, p, k in zip(words[token], positions[place], kinds[0], strict=True)],
        )
        for place, token in enumerate(ids)
    ]
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        attended = attend(weights, f"{layer}.attention.self", hidden, heads)
        for token, mixed in enumerate(attended):
            out = dense(weights, f"{layer}.attention.output.dense", mixed)
            summed = [h + o for h, o in zip(hidden[token], out, strict=True)]
            middle = normalise(weights, f"{layer}.attention.output", summed)
            inner = dense(weights, f"{layer}.intermediate.dense", middle)
            curved = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in inner]
            out = dense(weights, f"{layer}.output.dense", curved)
            summed = [m + o for m, o in zip(middle, out, strict=True)]
            hidden[token] = normalise(weights, f"{layer}.output", summed)
    return [sum(column) / len(hidden) for column in zip(*hidden, strict=True)]


@pytest.mark.parametrize("ids", [IDS, [0], [8, 7, 6, 5, 4]])
@pytest.mark.parametrize("heads", [1, 2, 3])
def test_the_forward_pass_is_that_of_bert(weights: Weights, ids: list[int], heads: int) -> None:
    found = BertEncoder(weights, heads, EPSILON).encode(ids)
    np.testing.assert_allclose(found, expected(weights, ids, heads), rtol=2e-4, atol=2e-5)


def test_a_vector_is_plain_numbers_and_the_same_every_time(weights: Weights) -> None:
    encoder = BertEncoder(weights, 2, EPSILON)
    assert encoder.positions == 5
    assert encoder.encode(IDS) == encoder.encode(IDS)
    assert all(type(number) is float for number in encoder.encode(IDS))


def test_a_missing_weight_is_named(weights: Weights) -> None:
    with pytest.raises(KeyError, match="word_embeddings"):
        BertEncoder({}, 2, EPSILON)
