"""Keys: canonical bytes, and vectors that notice an accidental change.

Changing a vector changes every key: kept replies are asked for again, and runs cannot be
paired with those of earlier releases. Do it knowingly, or not at all.
"""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.core.caption import Caption
from caliper.core.keys import (
    canonical_json,
    digest,
    job_key,
    question_id,
    reply_key,
    run_id,
    sampling_seed,
)

TEXTS = st.text(st.characters(exclude_categories=()), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES)
def test_canonical_json_says_the_same_value(value: Any) -> None:
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


@given(st.dictionaries(TEXTS, st.integers(), max_size=5), st.randoms())
def test_the_order_of_keys_does_not_matter(value: dict[str, int], random: Any) -> None:
    entries = list(value.items())
    random.shuffle(entries)
    assert canonical_json(dict(entries)) == canonical_json(value)


def test_canonical_bytes() -> None:
    value = {"b": [1, 2.5, None, True], "a": "é\u2028\ud800\n", "c": {}}
    assert canonical_json(value) == (
        b'{"a":"\xc3\xa9\xe2\x80\xa8\xed\xa0\x80\\n","b":[1,2.5,null,true],"c":{}}'
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, [1, math.nan]])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json(value)


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object()])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_json(value)


def test_vector_of_digest() -> None:
    assert digest({"b": 1, "a": [2]}) == (
        "63c9663de90ee828bbda6cd9acf02d0c653986c1ec25aa239920641edc9a1de5"
    )


def test_vector_of_run_id() -> None:
    assert run_id("0123456789abcdef" * 4) == "0123456789abcdef"


def test_vector_of_question_id() -> None:
    assert question_id("d" * 64, "scene/0001", 2) == "c9d4a707088f8ce65ab797142d84b276"


def test_vector_of_reply_key() -> None:
    identity = {"kind": "tgi", "name": "judge", "revision": "r1"}
    decoding = {"temperature": 0.6, "top_p": 0.9, "max_tokens": 256, "seed": 4}
    messages = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "schema": None}
    assert reply_key(identity, messages, decoding, (2, 1), "7") == (
        "84a530a50328787320091e9b1ec5721c326e27787642a6dd710686e2881baa63"
    )


def test_vector_of_job_key() -> None:
    caption = Caption("scene/0001", "a dog \ud800").digest
    assert caption == "bac123f6b027e6783b15436e8d04c1b45a7b08607a8a10d77af8325196702b19"
    assert job_key(caption, ({"key": "scene/0001"},), {"pack": "p"}, "") == (
        "98144a7d05459a55a7d79a5d46b75a50d07b09cb2a6a09b8a3b53487fca7e1c9"
    )


def test_each_part_of_a_reply_key_counts() -> None:
    keys = {
        reply_key("i", "m", "d", (0, 0), ""),
        reply_key("j", "m", "d", (0, 0), ""),
        reply_key("i", "n", "d", (0, 0), ""),
        reply_key("i", "m", "e", (0, 0), ""),
        reply_key("i", "m", "d", (1, 0), ""),
        reply_key("i", "m", "d", (0, 1), ""),
        reply_key("i", "m", "d", (0, 0), "1"),
    }
    assert len(keys) == 7


def test_each_part_of_a_job_key_and_a_question_id_counts() -> None:
    keys = {
        job_key("c", [1], "p", ""),
        job_key("d", [1], "p", ""),
        job_key("c", [1, 2], "p", ""),
        job_key("c", [1], "q", ""),
        job_key("c", [1], "p", "1"),
    }
    ids = {question_id("d", "i", 0), question_id("e", "i", 0), question_id("d", "j", 0),
           question_id("d", "i", 1)}  # fmt: skip
    assert (len(keys), len(ids)) == (5, 4)


def test_neither_replicates_nor_repeats_nor_neighbouring_seeds_share_their_draws() -> None:
    turns = [(replicate, repeat, attempt) for replicate in range(3) for repeat in range(3)
             for attempt in range(2)]  # fmt: skip
    drawn = [
        sampling_seed(sampling_seed(seed, replicate), repeat, attempt)
        for seed in range(50)
        for replicate, repeat, attempt in turns
    ]
    assert len(set(drawn)) == len(drawn)
    assert [sampling_seed(seed, 0, 0) for seed in (0, 7)] == [0, 7]
    assert all(0 <= seed < 2**31 for seed in drawn)
