from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from tests.fakes.examinations import driven

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.captionqa.benchmark import BENCHMARK
from caliper.benchmarks.captionqa.options import label
from caliper.benchmarks.captionqa.questions import CANNOT
from caliper.core.outcome import Outcome, Reason, Scored, Unscored, Verdict
from caliper.core.question import Answer, Ask, Decoding, Failure, Item, Reply
from caliper.core.rows import Row

Answerer = Callable[[Ask], Answer]
COLOUR = {"question": "What colour is it?", "choices": ["red", "green", "blue"], "answer": "green"}
YES_NO = {"question": "Is it open?", "choices": ["Yes", "No"], "answer": "No"}
BAD = COLOUR | {"answer": "purple"}


def items(
    *questions: Any, repeats: int | None = None, images: tuple[str, ...] = ("a.jpg",)
) -> tuple[Item, Item]:
    row = Row("f.json", 1, {"id": "nat_1", "questions": questions, "image_paths": list(images)})
    planned = BENCHMARK.plan([row], PlanRequest({}, repeats=repeats, qa_rows=[]))
    caption, image = (replace(item, first=10) for item in planned)
    return caption, image


def drive(
    item: Item, caption: str | None, answer: Answerer, **settings: str
) -> tuple[tuple[Verdict, ...], list[tuple[Ask, ...]]]:
    """The verdicts and the batches of an examination whose asks `answer` answers."""
    examination = BENCHMARK.examine(item, caption, settings)
    batches, verdicts = driven(examination, lambda asks: [answer(ask) for ask in asks])
    return verdicts, batches


def choosing(text: str) -> Answerer:
    return lambda ask: Reply(label(ask.question.payload.options.index(text)))


def outcome(text: str, question: dict[str, Any] = COLOUR, **settings: str) -> Outcome:
    caption, _ = items(question)
    (verdict,), _ = drive(caption, "It is green.", choosing(text), **settings)
    return verdict.outcome


def test_scores() -> None:
    assert outcome("green") == Scored(Fraction(1))
    assert outcome("red") == Scored(Fraction(0))
    assert outcome(CANNOT) == Scored(Fraction(1, 3) + Fraction(1, 20))
    assert outcome("No", YES_NO) == Scored(Fraction(1))


def test_labels() -> None:
    caption, _ = items(COLOUR)
    question = caption.questions[0]
    said = [BENCHMARK.label(question, outcome(text)) for text in ("green", "red", CANNOT)]
    assert said == ["correct", "wrong", "cannot answer"]
    assert BENCHMARK.label(question, Unscored(Reason.NO_REPLY)) == "unscored"


def test_all_questions_are_one_batch_about_one_caption() -> None:
    caption, _ = items(COLOUR, YES_NO, repeats=2)
    verdicts, batches = drive(caption, "It is green.", choosing_first)
    ((first, second, third, fourth),) = batches
    assert [verdict.index for verdict in verdicts] == [10, 11, 12, 13]
    assert [ask.repeat for ask in (first, second, third, fourth)] == [0, 1, 0, 1]
    assert first.prompt == "captionqa/reader"
    assert list(first.fields) == ["caption", "question", "options"]
    assert first.fields["caption"] == "It is green."
    shown = first.question.payload.options
    assert first.fields["options"] == "\n".join(
        f"{letter}. {text}" for letter, text in zip("ABCD", shown, strict=True)
    )
    assert first.decoding == Decoding(temperature=0.0, max_tokens=4)


def choosing_first(ask: Ask) -> Reply:
    return Reply("A")


def test_max_tokens_setting() -> None:
    caption, _ = items(COLOUR)
    _, ((ask,),) = drive(caption, "green", choosing_first, max_tokens="2048")
    assert ask.decoding.max_tokens == 2048


def test_a_reader_may_be_read_with_temperature() -> None:
    caption, _ = items(COLOUR)
    _, ((ask,),) = drive(caption, "green", choosing_first, temperature="0.7")
    assert ask.decoding.temperature == 0.7


@pytest.mark.parametrize(
    ("caption", "settings"),
    [
        (None, {"blank_caption": "answer"}),
        ("", {}),
        (" \n", {}),
        (" \n", {"blank_caption": "unscored"}),
    ],
)
def test_no_caption_is_unscored_without_a_call(
    caption: str | None, settings: dict[str, str]
) -> None:
    item, _ = items(COLOUR, BAD, YES_NO)
    verdicts, batches = drive(item, caption, choosing_first, **settings)
    assert batches == []
    reasons = [verdict.outcome.reason for verdict in verdicts]
    assert reasons == [Reason.NO_CAPTION, Reason.BAD_GROUND_TRUTH, Reason.NO_CAPTION]
    assert [verdict.index for verdict in verdicts] == [10, 11, 12]


@pytest.mark.parametrize("caption", ["", " \n"])
def test_the_reader_is_asked_with_a_blank_caption(caption: str) -> None:
    item, _ = items(COLOUR, BAD)
    verdicts, ((ask,),) = drive(item, caption, choosing_first, blank_caption="answer")
    assert (ask.fields["caption"], ask.untrusted) == ("", "caption")
    assert isinstance(verdicts[0].outcome, Scored)
    assert verdicts[1].outcome == Unscored(Reason.BAD_GROUND_TRUTH)


def test_what_planning_knows_is_told_in_its_place() -> None:
    item, _ = items(COLOUR, BAD, YES_NO, "broken")
    verdicts, ((first, second),) = drive(item, "It is green.", choosing_first)
    assert [verdict.index for verdict in verdicts] == [10, 11, 12, 13]
    assert verdicts[1].outcome == Unscored(Reason.BAD_GROUND_TRUTH)
    assert "none of the choices" in verdicts[1].evidence.explanation
    assert verdicts[3].outcome == Unscored(Reason.BAD_INPUT)
    assert (first.question.ordinal, second.question.ordinal) == (0, 2)


def test_an_item_without_a_usable_question_asks_nothing() -> None:
    item, _ = items(BAD)
    verdicts, batches = drive(item, "It is green.", choosing_first)
    assert batches == []
    assert verdicts[0].outcome == Unscored(Reason.BAD_GROUND_TRUTH)


def test_lenient_asks_the_unreadable_once_more_then_gives_up() -> None:
    item, _ = items(COLOUR, YES_NO)
    answers = {0: Reply("hm"), 1: Reply("A")}
    verdicts, batches = drive(item, "It is green.", lambda ask: answers[ask.question.ordinal])
    assert [[ask.attempt for ask in batch] for batch in batches] == [[0, 0], [1]]
    assert verdicts[0].outcome == Unscored(Reason.UNREADABLE)
    assert isinstance(verdicts[1].outcome, Scored)


def test_released_counts_the_unreadable_as_wrong() -> None:
    item, _ = items(COLOUR)
    (verdict,), batches = drive(item, "green", lambda ask: Reply("hm"), reading="released")
    assert verdict.outcome == Scored(Fraction(0))
    assert len(batches) == 1


def test_repaired_replies_are_counted() -> None:
    item, _ = items(COLOUR)
    (verdict,), _ = drive(item, "green", lambda ask: Reply("It is green"))
    assert verdict.outcome == Scored(Fraction(1))
    assert verdict.evidence.repaired


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_blank_reply_is_wrong_as_released_and_else_none(text: str) -> None:
    item, _ = items(COLOUR)
    for reading, expected in (
        ("released", Scored(Fraction(0))),
        ("lenient", Unscored(Reason.NO_REPLY)),
    ):
        (verdict,), batches = drive(item, "green", lambda ask: Reply(text), reading=reading)
        assert verdict.outcome == expected
        assert len(batches) == 1


def test_a_chatty_reply_that_is_cut_off_is_truncated() -> None:
    item, _ = items(COLOUR)
    reply = Reply("The caption mentions a", truncated=True)
    (verdict,), _ = drive(item, "green", lambda ask: reply)
    assert verdict.outcome == Unscored(Reason.TRUNCATED)


@pytest.mark.parametrize("reading", ["lenient", "released"])
@pytest.mark.parametrize(
    ("answer", "reason"),
    [(Failure(Reason.TIMEOUT, "late"), Reason.TIMEOUT), (Failure(Reason.REFUSED), Reason.REFUSED)],
)
def test_no_trouble_becomes_a_score(reading: str, answer: Answer, reason: Reason) -> None:
    item, _ = items(COLOUR)
    (verdict,), _ = drive(item, "green", lambda ask: answer, reading=reading)
    assert verdict.outcome == Unscored(reason)


def test_reasoning_that_broke_off_is_truncated() -> None:
    item, _ = items(COLOUR)
    (verdict,), _ = drive(item, "green", lambda ask: Reply("<think>B or", truncated=True))
    assert verdict.outcome == Unscored(Reason.TRUNCATED)


def test_a_letter_at_the_token_limit_is_still_read() -> None:
    item, _ = items(COLOUR)
    (verdict,), _ = drive(item, "green", lambda ask: Reply("B", truncated=True))
    assert isinstance(verdict.outcome, Scored)


def test_questions_on_the_image() -> None:
    _, image = items(COLOUR, YES_NO)
    verdicts, ((ask, _),) = drive(image, None, choosing_first)
    assert ask.prompt == "captionqa/reader_on_image"
    assert set(ask.fields) == {"question", "options"}
    assert len(verdicts) == 2


def test_more_options_than_letters() -> None:
    choices = [f"number {place}" for place in range(40)]
    item, _ = items({"question": "Which?", "choices": choices, "answer": "number 39"})
    (verdict,), _ = drive(item, "39", choosing("number 39"))
    assert verdict.outcome == Scored(Fraction(1))
