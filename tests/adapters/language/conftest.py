"""A BERT encoder of two layers with random weights."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

WIDTH, HEADS, INNER, VOCABULARY, POSITIONS = 6, 2, 10, 9, 5


@pytest.fixture(scope="session")
def weights() -> dict[str, NDArray[np.float32]]:
    draw = np.random.default_rng(0)

    def normal(*shape: int) -> NDArray[np.float32]:
        return draw.normal(size=shape).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": normal(VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": normal(POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": normal(2, WIDTH),
    }
    norms, denses = ["embeddings"], {}
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        norms += [f"{layer}.attention.output", f"{layer}.output"]
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            denses[f"{layer}.attention.{part}"] = (WIDTH, WIDTH)
        denses[f"{layer}.intermediate.dense"] = (INNER, WIDTH)
        denses[f"{layer}.output.dense"] = (WIDTH, INNER)
    for name in norms:
        made |= {f"{name}.LayerNorm.{part}": normal(WIDTH) for part in ("weight", "bias")}
    for name, shape in denses.items():
        made |= {f"{name}.weight": normal(*shape), f"{name}.bias": normal(shape[0])}
    return made
