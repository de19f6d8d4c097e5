"""What only JSON can hold: rubbish that is JSON all the same. The rest is the codecs' contract."""

import json
from typing import Any

import pytest

from caliper.adapters.wire.json_codec import JsonCodec
from caliper.benchmarks.captionqa.payloads import ChoiceQuestion
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.question import Item, Question
from caliper.ports.codec import ExamineJob, Verdicts

CODEC = JsonCodec()


def a_job() -> ExamineJob:
    payload = ChoiceQuestion(
        "natural", "A - B", "Who?", ("a", "b"), 0, has_cannot=True, permutation=(2, 0, 1)
    )
    item = Item("captionqa", "x", "x", "x.jpg", ("x.jpg",), (Question(0, payload),))
    return ExamineJob("r", "captionqa", "x", Caption("x", "text"), (item,))


READERS = (CODEC.read_caption_job, CODEC.read_examine_job, CODEC.read_verdicts)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe\x00", b"{", b"null", b"[]", b'"text"', b"3", b"{}", b'{"schema": null}',
     b'{"schema": "1"}', b'{"schema": 1}', b'{"schema": 1, "run": "r"}'],
)  # fmt: skip
def test_rubbish(read: Any, data: bytes) -> None:
    with pytest.raises(InvalidInput):
        read(data)


WRONG: list[tuple[tuple[str | int, ...], Any]] = [
    (("items",), None),
    (("items",), 3),
    (("items",), []),
    (("items", 0), None),
    (("items", 0), "x"),
    (("items", 0, "benchmark"), "coco"),
    (("items", 0, "benchmark"), {}),
    (("items", 0, "questions"), 3),
    (("items", 0, "questions", 0), None),
    (("items", 0, "questions", 0, "payload"), None),
    (("items", 0, "questions", 0, "payload"), [1]),
    (("items", 0, "questions", 0, "unscored"), "bored"),
    (("items", 0, "source"), "dream"),
    (("caption",), "text"),
    (("caption",), {"words": 3}),
    (("caption",), [1, 2, 3, 4]),
]


@pytest.mark.parametrize(("path", "value"), WRONG)
def test_a_job_with_something_else_in_it(path: tuple[str | int, ...], value: Any) -> None:
    written = json.loads(CODEC.write(a_job()))
    place = written
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(InvalidInput):
        CODEC.read_examine_job(json.dumps(written).encode())


@pytest.mark.parametrize(
    "verdicts",
    [None, 3, [None], ["x"], [{}], [{"index": 0}], [{"index": 0, "score": "1/0"}],
     [{"index": None, "score": "1"}], [{"index": 0, "unscored": "bored"}]],
)  # fmt: skip
def test_verdicts_with_something_else_in_them(verdicts: Any) -> None:
    written = json.loads(CODEC.write(Verdicts("r", "captionqa", "x", ())))
    with pytest.raises(InvalidInput, match=r"holds no verdict|lacks verdicts"):
        CODEC.read_verdicts(json.dumps({**written, "verdicts": verdicts}).encode())
