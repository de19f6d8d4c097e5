"""Ask questions and read the replies, retrying unreadable ones once; shared by all benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from caliper.benchmarks.replies import after_thoughts
from caliper.core.outcome import Evidence, Outcome, Reason, Unscored, Verdict
from caliper.core.question import Answer, Ask, Examination, Failure, Item, Question


@dataclass(frozen=True, slots=True)
class Reading:
    """The outcome read from a reply, with an explanation.

    `repaired` is set if the reply broke the expected format. `ask_and_read` retries an
    `Unscored(unreadable)` reading, unless the reply was truncated or blank: that becomes
    Unscored(truncated) or Unscored(no_reply).
    """

    outcome: Outcome
    explanation: str = ""
    repaired: bool = False


Result = tuple[Outcome, Evidence]
Reader = Callable[[Ask, str], Reading]
UNREADABLE = Unscored(Reason.UNREADABLE)
_CUT_BEFORE_ANSWER = "the limit of output tokens was reached before any answer was written"
LONGEST = 65_536
"""Maximum length in characters of a reply that is read (ours): no verdict is longer."""


def ask_and_read(
    asks: Sequence[Ask], read: Reader, read_truncated: Reader | None = None
) -> Generator[tuple[Ask, ...], Any, list[Result]]:
    """Ask everything at once, read the replies, and retry the unreadable ones once.

    `read_truncated` reads the replies that were cut at the token limit, if not `read`. Returns
    one (outcome, evidence) per ask, in order.
    """
    if not asks:
        return []
    answers: Sequence[Answer] = yield tuple(asks)
    readers = read, read_truncated or read
    results = [_read(ask, answer, readers) for ask, answer in zip(asks, answers, strict=True)]
    unreadable = [place for place, (outcome, _) in enumerate(results) if outcome == UNREADABLE]
    if unreadable:
        retries = tuple(replace(asks[place], attempt=1) for place in unreadable)
        answers = yield retries
        for place, ask, answer in zip(unreadable, retries, answers, strict=True):
            if isinstance(answer, Failure):
                # The failure's reason says whether a later attempt may help; the first reply
                # is kept for people to look at.
                results[place] = Unscored(answer.reason), results[place][1]
            else:
                results[place] = _read(ask, answer, readers)
    return results


def _read(ask: Ask, answer: Answer, readers: tuple[Reader, Reader]) -> Result:
    if isinstance(answer, Failure):
        return Unscored(answer.reason), Evidence(explanation=answer.detail)
    reading = _read_bounded(ask, answer.text, readers[answer.truncated])
    outcome = reading.outcome
    if outcome == UNREADABLE and not answer.text.strip():
        if answer.truncated:
            return Unscored(Reason.TRUNCATED), Evidence(explanation=_CUT_BEFORE_ANSWER)
        return Unscored(Reason.NO_REPLY), Evidence(explanation="the reply was empty")
    if outcome == UNREADABLE and answer.truncated:
        outcome = Unscored(Reason.TRUNCATED)
    return outcome, Evidence(answer.text, reading.explanation, reading.repaired)


def _read_bounded(ask: Ask, text: str, read: Reader) -> Reading:
    """Read a reply; drop the reasoning first if it exceeds `LONGEST` characters.

    A reply that is still too long is not read. It is not truncated either: the rest could pass
    for a verdict.
    """
    if len(text) > LONGEST:
        text = after_thoughts(text) or text
    if len(text) > LONGEST:
        return Reading(UNREADABLE, f"it has more than {LONGEST:,} characters")
    return read(ask, text)


def examine_each(
    item: Item,
    settle: Callable[[Question[Any], int], Ask | Result],
    read: Reader,
    read_truncated: Reader | None = None,
) -> Examination:
    """Ask everything about an item at once, and return the verdicts in index order.

    `settle` takes a question and a repeat. It returns the ask, or a result that needs none. It is
    not called for questions that planning marked unscored. `ask_and_read` has the readers.
    """
    results: dict[int, Result] = {}
    asks: dict[int, Ask] = {}
    for index, question, repeat in item.positions():
        if question.unscored is not None:
            results[index] = Unscored(question.unscored), Evidence(explanation=question.note)
            continue
        settled = settle(question, repeat)
        if isinstance(settled, Ask):
            asks[index] = settled
        else:
            results[index] = settled
    readings = yield from ask_and_read(tuple(asks.values()), read, read_truncated)
    results |= zip(asks, readings, strict=True)
    return tuple(Verdict(index, *results[index]) for index, _, _ in item.positions())
