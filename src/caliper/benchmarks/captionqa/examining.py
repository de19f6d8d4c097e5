"""Asking all questions of an item, and what their replies are worth."""

from __future__ import annotations

from caliper.benchmarks.asking import UNREADABLE, Reading, ask_and_read, verdicts_of
from caliper.benchmarks.base import Settings, lacks_caption
from caliper.benchmarks.captionqa import settings as choices
from caliper.benchmarks.captionqa.prompting import ask
from caliper.benchmarks.captionqa.reading import READERS
from caliper.benchmarks.captionqa.scoring import WRONG, score
from caliper.core.outcome import Evidence, Reason, Scored, Unscored, Verdict
from caliper.core.question import Ask, Examination, Item


def examine(item: Item, caption: str | None, settings: Settings) -> Examination:
    """Ask every question of the item at once, and return their verdicts in index order.

    A missing caption makes each question Unscored(no_caption), without a call. A blank one goes
    to the reader (released script) unless the settings leave it unscored.
    """
    no_caption = lacks_caption(item, caption, settings)
    verdicts: list[Verdict] = []
    indices: list[int] = []
    asks: list[Ask] = []
    for index, question, repeat in item.positions():
        reason = question.unscored or (Reason.NO_CAPTION if no_caption else None)
        if reason is None:
            indices.append(index)
            asks.append(ask(item, question, repeat, caption, settings))
        else:
            evidence = Evidence(explanation=question.note)
            verdicts.append(Verdict(index, Unscored(reason), evidence))
    reading = choices.choice(settings, choices.READING)
    results = yield from ask_and_read(asks, lambda asked, reply: read(asked, reply, reading))
    verdicts.extend(verdicts_of(indices, results))
    return tuple(sorted(verdicts, key=lambda verdict: verdict.index))


def read(asked: Ask, reply: str, reading: str) -> Reading:
    """The outcome of a reply. What cannot be read is wrong by `released`, else Unscored."""
    payload = asked.question.payload
    found = READERS[reading](reply, payload.shown, payload.question)
    if found.place is not None:
        chosen = f"chose {payload.shown[found.place]}"
        return Reading(Scored(score(payload, found.place)), chosen, found.repaired)
    if reading == "released":
        return Reading(Scored(WRONG), "unreadable, which the released script counts as wrong")
    return Reading(UNREADABLE, "no option could be read from the reply")
