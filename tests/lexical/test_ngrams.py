from __future__ import annotations

import math
import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from caliper.lexical.ngrams import DIMENSION, NgramEmbedder, embed


def cosine(first: str, second: str) -> float:
    one, two = embed(first), embed(second)
    product = math.fsum(x * y for x, y in zip(one, two, strict=True))
    return product / math.sqrt(math.fsum(x * x for x in one) * math.fsum(y * y for y in two))


def test_the_same_words_are_alike_and_others_less() -> None:
    assert cosine("traffic light", "Traffic  light") == 1.0
    assert 1.0 > cosine("light", "traffic light") > cosine("bike", "motorbike")
    assert cosine("bike", "motorbike") > cosine("bike", "frisbee")


def test_words_without_a_common_n_gram_are_not_alike() -> None:
    assert cosine("dog", "cat") == 0.0


def test_a_text_without_words_is_the_zero_vector() -> None:
    assert not any(embed(" ... "))


def test_vectors_do_not_depend_on_the_process() -> None:
    script = "from caliper.lexical.ngrams import embed; print(embed('skateboard'))"
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    other = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert other.stdout.strip() == str(embed("skateboard"))


@given(st.lists(st.text(), max_size=3))
async def test_every_text_has_a_vector_of_one_length(texts: list[str]) -> None:
    vectors = await NgramEmbedder().embed(texts)
    assert len(vectors) == len(texts)
    assert all(len(vector) == DIMENSION and min(vector) >= 0 for vector in vectors)


def test_the_identity_names_the_rules() -> None:
    identity = NgramEmbedder().identity
    assert (identity.kind, identity.name) == ("lexical", "ngrams")
