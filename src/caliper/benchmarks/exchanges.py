"""Asking and reading, as every benchmark does it: once, and once more what was unreadable."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from caliper.core.outcome import Evidence, Outcome, Reason, Unscored, Verdict
from caliper.core.question import Answer, Ask, Failure


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply was read as: an outcome, and how it was come by.

    An `Unscored(unreadable)` reading makes `ask_and_read` ask once more, unless the reply was
    cut off, or was blank: then it is Unscored(truncated) or Unscored(no_reply).
    """

    outcome: Outcome
    explanation: str = ""
    repaired: bool = False


Reader = Callable[[Ask, str], Reading]
UNREADABLE = Unscored(Reason.UNREADABLE)
_CUT_BEFORE_ANSWER = "the limit of output tokens was reached before any answer was written"
LONGEST = 65_536
"""The most characters of a reply that are read (ours): no verdict is longer."""


def ask_and_read(
    asks: Sequence[Ask], read: Reader
) -> Generator[tuple[Ask, ...], Any, list[tuple[Outcome, Evidence]]]:
    """Ask all at once, read the replies, and ask the unreadable ones once more.

    Returns one (outcome, evidence) an ask, in order.
    """
    if not asks:
        return []
    answers: Sequence[Answer] = yield tuple(asks)
    results = [_read(ask, answer, read) for ask, answer in zip(asks, answers, strict=True)]
    unreadable = [place for place, (outcome, _) in enumerate(results) if outcome == UNREADABLE]
    if unreadable:
        retries = tuple(replace(asks[place], attempt=1) for place in unreadable)
        answers = yield retries
        for place, ask, answer in zip(unreadable, retries, answers, strict=True):
            if isinstance(answer, Failure):
                # Its reason tells whether asking at another time may help; the first reply
                # stays for people to look at.
                results[place] = Unscored(answer.reason), results[place][1]
            else:
                results[place] = _read(ask, answer, read)
    return results


def _read(ask: Ask, answer: Answer, read: Reader) -> tuple[Outcome, Evidence]:
    if isinstance(answer, Failure):
        return Unscored(answer.reason), Evidence(explanation=answer.detail)
    reading = _read_bounded(ask, answer.text, read)
    outcome = reading.outcome
    if outcome == UNREADABLE and not answer.text.strip():
        if answer.truncated:
            return Unscored(Reason.TRUNCATED), Evidence(explanation=_CUT_BEFORE_ANSWER)
        return Unscored(Reason.NO_REPLY), Evidence(explanation="the reply was empty")
    if outcome == UNREADABLE and answer.truncated:
        outcome = Unscored(Reason.TRUNCATED)
    return outcome, Evidence(answer.text, reading.explanation, reading.repaired)


def _read_bounded(ask: Ask, text: str, read: Reader) -> Reading:
    """Of a reply beyond `LONGEST` what stands behind its thoughts; what is still longer is not
    read. It is not cut: what a cut leaves could pass for a verdict.
    """
    if len(text) > LONGEST:
        text = text.rpartition("</think>")[2]
    if len(text) > LONGEST:
        return Reading(UNREADABLE, f"it has more than {LONGEST:,} characters")
    return read(ask, text)


def verdicts_of(
    positions: Sequence[int], results: Sequence[tuple[Outcome, Evidence]]
) -> tuple[Verdict, ...]:
    """Verdicts from plan indices and what `ask_and_read` returned for them."""
    return tuple(
        Verdict(index, outcome, evidence)
        for index, (outcome, evidence) in zip(positions, results, strict=True)
    )
