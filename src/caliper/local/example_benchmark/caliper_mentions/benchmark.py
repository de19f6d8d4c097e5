"""Mentions, a small but complete benchmark: does the caption mention each annotated thing?

docs/add-a-benchmark.md explains it. A row is {"image": "a.jpg", "things": ["dog", "rug"]}.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from caliper.benchmarks.base import (
    BLANK_CAPTION,
    Better,
    Outcomes,
    PlanRequest,
    QuestionText,
    ReportLayout,
    Setting,
    Settings,
    lacks_caption,
)
from caliper.benchmarks.benchmark import Benchmark
from caliper.benchmarks.exchanges import UNREADABLE, Reading, Result, examine_each
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Evidence, Outcome, Reason, Scored, Unscored
from caliper.core.question import Answer, Ask, Decoding, Examination, Item, Question, Reply, Source
from caliper.core.report import Figure, Generation, Kind, Table, TableRow
from caliper.core.rows import Row
from caliper.core.tally import Sums, Tally

NAME = "mentions"
SCHEMA = 1
PROMPT = "mentions/mention"
DECODING = Decoding(max_tokens=8)
# How replies are read: lenient takes the first word, strict the whole reply.
READING = Setting("reading", "lenient", choices=("lenient", "strict"))


@dataclass(frozen=True, slots=True)
class ThingQuestion:
    """Does the caption mention this thing?"""

    thing: str


def plan(rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
    """One item per picture. Raises InvalidInput for a picture that is annotated twice: the file is
    broken. A broken row becomes an Unscored question, so that other rows still count.
    """
    images: set[str] = set()
    for row in rows:
        image = row.text("image")
        if image in images:
            raise row.error("image", f"{image!r} is annotated twice")
        images.add(image)
        questions = tuple(_questions(row, request.repeats or 1))
        yield Item(NAME, image, image, image, (image,), questions)


def _questions(row: Row, repeats: int) -> Iterator[Question[ThingQuestion]]:
    things = row.fields.get("things")
    if not isinstance(things, list) or not all(isinstance(thing, str) for thing in things):
        note = str(row.error("things", f"expected a list of texts, found {things!r:.60}"))
        yield Question(0, ThingQuestion(""), unscored=Reason.BAD_INPUT, note=note)
        return
    for ordinal, thing in enumerate(things):
        yield Question(ordinal, ThingQuestion(thing), repeats=repeats)


def encode(payload: ThingQuestion) -> dict[str, Any]:
    """The question as JSON, for the store and the services."""
    return {"schema": SCHEMA, **asdict(payload)}


def decode(written: Mapping[str, Any]) -> ThingQuestion:
    """The question that `encode` wrote."""
    if not isinstance(written.get("schema"), int) or "thing" not in written:
        raise InvalidInput("not a question of mentions")
    if written["schema"] > SCHEMA:
        raise NewerSchema(f"schema {written['schema']} is newer than {SCHEMA}")
    return ThingQuestion(str(written["thing"]))


def examine(item: Item, caption: str | None, settings: Settings) -> Examination:
    """Ask about each thing, all at once; return one verdict per question and repeat."""
    strict = settings.get(READING.name, READING.default) == "strict"

    def settle(question: Question[ThingQuestion], repeat: int) -> Ask | Result:
        if lacks_caption(item, caption, settings):
            return Unscored(Reason.NO_CAPTION), Evidence()
        fields = {"caption": caption or "", "thing": question.payload.thing}
        return Ask(item, question, repeat, PROMPT, fields, DECODING)

    return examine_each(item, settle, lambda _, reply: read(reply, strict=strict))


def read(reply: str, *, strict: bool) -> Reading:
    """Yes, no or unreadable. A reply of several words is marked as repaired."""
    words = reply.strip().strip(".!").lower().split()
    if not words or (strict and len(words) > 1):
        return Reading(UNREADABLE)
    word = words[0].strip(".,!:")
    if word not in ("yes", "no"):
        return Reading(UNREADABLE)
    return Reading(Scored(Fraction(int(word == "yes"))), repaired=len(words) > 1)


def generation(source: Source, settings: Settings, repeats: int | None) -> Generation:
    """The prompts and decoding of `examine`, for reports."""
    return Generation((PROMPT,), DECODING, repeats or 1)


def reply_to(ask: Ask) -> Answer:
    """The lexical judge's reply: whether the caption has the word."""
    mentioned = ask.fields["thing"].lower() in ask.fields["caption"].lower()
    return Reply("yes" if mentioned else "no")


def describe(item: Item, question: Question[ThingQuestion]) -> QuestionText:
    """The question as people read it."""
    thing = question.payload.thing
    return QuestionText("things", f"Does the caption mention {thing}?", "yes")


def label(question: Question[ThingQuestion], outcome: Outcome) -> str:
    """The outcome as people read it."""
    if not isinstance(outcome, Scored):
        return "unscored"
    return "mentioned" if outcome.score else "not mentioned"


def reduce(outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
    """Sums per medium: intervals leave out whole media."""
    tally = Tally()
    for item, by_question in outcomes:
        for outcome in by_question.values():
            if isinstance(outcome, Scored):
                tally.add("all", item.cluster, scored=1, mentioned=int(outcome.score), unscored=0)
            else:
                tally.add("all", item.cluster, scored=0, mentioned=0, unscored=1)
    return tally


def share(sums: Mapping[str, Sums]) -> float | None:
    """Percentage of the scored things that are mentioned, None without any."""
    scored = sums["all"].get("scored", 0)
    return float(100 * sums["all"]["mentioned"] / Fraction(scored)) if scored else None


def count(sums: Mapping[str, Sums]) -> float:
    """The number of questions with a score."""
    return float(sums["all"].get("scored", 0))


def report(tally: Tally, settings: Settings) -> ReportLayout:
    """The figures and the table that shows them."""
    figures = (
        Figure(("mentioned",), ("all",), share, Kind.PROPORTION, ("mentioned", "scored")),
        Figure(("n_scored",), ("all",), count, Kind.COUNT, bounds=(0.0, math.inf)),
    )
    row = TableRow("all things", (("mentioned",), ("n_scored",)))
    table = Table("Mentions", ("mentioned (%)", "n"), (row,), chart=0)
    return ReportLayout(("mentioned",), figures, (table,))


BENCHMARK = Benchmark(
    name=NAME,
    title="Mentions",
    description="Mentions: does the caption mention each annotated thing?",
    role="judge",
    data=Layout(FileFormat.TABLE),
    plan=plan,
    encode=encode,
    decode=decode,
    examine=examine,
    generation=generation,
    describe=describe,
    reduce=reduce,
    report=report,
    settings=(READING, BLANK_CAPTION),
    better={"mentioned": Better.MORE},
    labels=("mentioned", "not mentioned", "unscored"),
    label=label,
    rules=reply_to,
)
