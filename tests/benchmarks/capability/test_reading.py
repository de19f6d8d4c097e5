from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.benchmarks.capability.reading import ReplyValue, read_labels, read_score
from caliper.benchmarks.capability.tasks import TASKS
from caliper.benchmarks.literals import read_literal

MOVEMENTS = TASKS["camera_movement"].labels
FENCE = "```"

EXACT_SCORES = [
    ('{"object_number": "{cup: 2}", "score": "1", "reason": "two cups"}', 1),
    ('{"score": -1}', -1),
    ("{'score': 0, 'reason': None, 'sure': True}", 0),
    ("{'score': '-1', 'reason': \"isn't said\"}", -1),
    ('{"score": 1, "reason": null, "extra": [1.5e3, (2, .5), {"a": false}]}', 1),
    (f'{FENCE}json\n{{"score": "0"}}\n{FENCE}', 0),
    (f"{FENCE}\n{{'score': +1}}\n{FENCE}", 1),
    (f'{FENCE}json{{"score": 1}}{FENCE}', 1),
    ('  {"score": "1"}\n', 1),
    (r'{"score": "1", "reason": "\ud83d\ude00 \d \x41"}', 1),
]
REPAIRED_SCORES = [
    ('{"score": "1", "reason": "two cups",}', 1),
    ("{'reason': ['a', 'b',], 'score': -1}", -1),
    ('Here is my verdict: {"score": "0"} I hope it helps.', 0),
    (f'Sure!\n{FENCE}json\n{{"score": "-1"}}\n{FENCE}', -1),
    ('My first impression was {"score": 0}. My final verdict: {"score": 1}', 1),
    ("Score: -1", -1),
    ("**Score:** 1\n\nBoth are red.", 1),
    ('<think>{"score": 1} or {x}?</think>{"score": "-1", "reason": "no"}', -1),
    ('{"score": " 1 "}', 1),
    ('{"score": 1.0}', 1),
    ('{"verdict": {"score": "-1"}}', -1),
    ('[{"score": 0}]', 0),
    ('{"score": 1, "reason": "a line\nbreak"}', 1),
    ("{'score': 1, 'reason': 'not {\"score\": 0}'} ok", 1),
    ("-1", -1),
    ("<think>Zero?</think>\n1", 1),
    ('"1"', 1),
    ("**0**", 0),
]
UNREADABLE_SCORES = [
    "",
    "I cannot tell.",
    '{"score": 2}',
    '{"score": true}',
    '{"score": null}',
    '{"score": "put your score here"}',
    '{"reason": "no score"}',
    '{"score": "1", "reason": "cut of',
    '<think>Perhaps {"score": 1}, but',
    "[1]",
    "{",
    "{}",
    "2",
    "Score: 1\nScore: -1",
    "Score: 1 or 0",
    "Score: 2",
]


@pytest.mark.parametrize(("text", "score"), EXACT_SCORES)
@pytest.mark.parametrize("lenient", [True, False])
def test_a_well_formed_score_is_read_in_both_ways(text: str, score: int, *, lenient: bool) -> None:
    read = read_score(text, lenient=lenient)
    assert read is not None
    assert (read.value, read.repaired) == (score, False)


@pytest.mark.parametrize(("text", "score"), REPAIRED_SCORES)
def test_a_broken_score_is_recovered_by_the_lenient_reading_only(text: str, score: int) -> None:
    assert read_score(text, lenient=False) is None
    read = read_score(text, lenient=True)
    assert read is not None
    assert (read.value, read.repaired) == (score, True)


@pytest.mark.parametrize("text", UNREADABLE_SCORES)
@pytest.mark.parametrize("lenient", [True, False])
def test_what_holds_no_score_is_unreadable(text: str, *, lenient: bool) -> None:
    assert read_score(text, lenient=lenient) is None


def test_the_reason_is_kept() -> None:
    read = read_score(EXACT_SCORES[-1][0], lenient=False)
    assert read == ReplyValue(1, "\U0001f600 \\d A")


EXACT_LABELS = [
    ('{"pred": "left", "reason": "pans left"}', ("left",)),
    ('{"pred": ["left", "up"]}', ("left", "up")),
    ("{'pred': \"['left', 'up']\"}", ("left", "up")),
    ('{"pred": " Left "}', ("left",)),
    ('{"pred": "left: the camera angle swings left (pan left), or ..."}', ("left",)),
    ('{"pred": ["in: camera pushes", "N/A"]}', ("in", "n/a")),
    ('{"pred": "N/A"}', ("n/a",)),
    ('{"pred": "sideways"}', ("sideways",)),
]
REPAIRED_LABELS = [
    ('{"pred": "left",}', ("left",)),
    ('The answer is {"pred": ["out"]}.', ("out",)),
    ('{"pred": "in"}\nIn short: {"pred": "in"}', ("in",)),
    ('{"pred": "left, up"}', ("left", "up")),
    ('{"pred": "Left."}', ("left",)),
    ('{"pred": "left, "}', ("left",)),
    ("left", ("left",)),
    ("N/A", ("n/a",)),
    ("fixed: camera is almost fixed and does not change", ("fixed",)),
    ("['left', 'up']", ("left", "up")),
    (f"{FENCE}\nFixed.\n{FENCE}", ("fixed",)),
]
UNREADABLE_LABELS = [
    '{"pred": "in"} no, {"pred": "out"}',
    "",
    "sideways",
    "The camera pans left.",
    "['sideways']",
    '{"pred": []}',
    '{"pred": ""}',
    '{"pred": null}',
    '{"pred": [1]}',
    '{"pred": {"left": 1}}',
    '{"prediction": "left"}',
]


@pytest.mark.parametrize(("text", "labels"), EXACT_LABELS)
@pytest.mark.parametrize("lenient", [True, False])
def test_well_formed_labels_are_read_in_both_ways(
    text: str, labels: tuple[str, ...], *, lenient: bool
) -> None:
    read = read_labels(text, MOVEMENTS, lenient=lenient)
    assert read is not None
    assert (read.value, read.repaired) == (labels, False)


@pytest.mark.parametrize(("text", "labels"), REPAIRED_LABELS)
def test_broken_labels_are_recovered_by_the_lenient_reading(
    text: str, labels: tuple[str, ...]
) -> None:
    strictly = read_labels(text, MOVEMENTS, lenient=False)
    assert strictly is None or strictly.value != labels
    read = read_labels(text, MOVEMENTS, lenient=True)
    assert read is not None
    assert (read.value, read.repaired) == (labels, True)


@pytest.mark.parametrize("text", UNREADABLE_LABELS)
@pytest.mark.parametrize("lenient", [True, False])
def test_what_holds_no_label_is_unreadable(text: str, *, lenient: bool) -> None:
    assert read_labels(text, MOVEMENTS, lenient=lenient) is None


# Texts made of the pieces that the readers look for find more than random characters do.
PIECES = st.sampled_from([
    *"{}[]()'\":,\\\n ", "score", "pred", "1", "-1", "left", "N/A", "None", "true", "```", "json",
    "\\u", "\\ud800", "\ud800", '{"score": ', '{"pred": ', "1e999", "9" * 30, "é",
])  # fmt: skip
TEXTS = st.one_of(
    st.text(), st.lists(PIECES, max_size=40).map("".join), st.text(alphabet="{[(\"'\\")
)


@given(text=TEXTS, lenient=st.booleans())
def test_reading_never_raises(text: str, *, lenient: bool) -> None:
    score = read_score(text, lenient=lenient)
    labels = read_labels(text, MOVEMENTS, lenient=lenient)
    assert score is None or score.value in (-1, 0, 1)
    assert labels is None or (labels.value and all(isinstance(name, str) for name in labels.value))


@given(TEXTS)
def test_what_is_read_strictly_is_read_leniently_as_the_same(text: str) -> None:
    strictly = read_score(text, lenient=False)
    if strictly is not None and text.count("score") == 1:
        assert read_score(text, lenient=True) == strictly


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_json_and_python_literals_are_read_back(value: object) -> None:
    for written in (json.dumps(value), json.dumps(value, ensure_ascii=False), repr(value)):
        read = read_literal(written)
        assert read is not None
        assert read.value == value
        assert read.end == len(written)


def test_a_hostile_reply_is_read_in_reasonable_time() -> None:
    for text in ("{" * 100_000, '{"a":' * 30_000, "[" * 100_000, "```" + " " * 100_000 + "x"):
        assert read_score(text, lenient=True) is None
