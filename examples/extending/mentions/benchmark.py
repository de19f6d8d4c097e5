"""Mentions, a small but complete benchmark: does the caption mention each annotated thing?

docs/add-a-benchmark.md explains it. A row is {"image": "a.jpg", "things": ["dog", "rug"]}.
As a part of Caliper it would be src/caliper/benchmarks/mentions/benchmark.py. Run this file to see
one picture go from its row to its figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from caliper.analysis.intervals import estimate_all
from caliper.benchmarks.asking import UNREADABLE, Reading, ask_and_read
from caliper.benchmarks.base import (
    BLANK_CAPTION,
    Benchmark,
    Described,
    Outcomes,
    PlanRequest,
    ProtocolRecipe,
    RecordKey,
    ReportLayout,
    Setting,
    Settings,
    lacks_caption,
)
from caliper.core.errors import InvalidInput, NewerSchema, UnknownName
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Evidence, Outcome, Reason, Scored, Unscored, Verdict
from caliper.core.question import Ask, Decoding, Examination, Item, Question, Reply, Source
from caliper.core.report import Figure, Generation, Kind, Table, TableRow
from caliper.core.sample import Row
from caliper.core.tally import Sums, Tally

NAME = "mentions"
SCHEMA = 1
PROMPT = "mentions/mention"
DECODING = Decoding(max_tokens=8)
READING = Setting(
    "reading",
    "lenient",
    "how replies are read: lenient takes the first word, strict the whole reply",
    ("lenient", "strict"),
)


@dataclass(frozen=True, slots=True)
class ThingQuestion:
    """Does the caption mention this thing?"""

    thing: str


def plan(rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
    """One item per picture. Raises InvalidInput for a picture that is annotated twice: the file is
    broken. A broken row becomes an Unscored question, so that the other rows still count.
    """
    seen: set[str] = set()
    for row in rows:
        image = row.text("image")
        if image in seen:
            raise row.wrong("image", f"{image!r} is annotated twice")
        seen.add(image)
        questions = tuple(_questions(row, request.repeats or 1))
        yield Item(NAME, image, image, image, (image,), questions)


def _questions(row: Row, repeats: int) -> Iterator[Question[ThingQuestion]]:
    things = row.fields.get("things")
    if not isinstance(things, list) or not all(isinstance(thing, str) for thing in things):
        note = str(row.wrong("things", f"expected a list of texts, found {things!r:.60}"))
        yield Question(0, ThingQuestion(""), unscored=Reason.BAD_INPUT, note=note)
        return
    for ordinal, thing in enumerate(things):
        yield Question(ordinal, ThingQuestion(thing), repeats=repeats)


def read_captions(rows: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
    """Captions by picture, None for null. Raises InvalidInput for anything else."""
    for row in rows:
        caption = row.fields.get("value")
        if not isinstance(caption, str | None):
            raise row.wrong(row.text("key"), f"expected a caption, found {caption!r:.60}")
        yield row.text("key"), caption


def examine(item: Item, caption: str | None, settings: Settings) -> Examination:
    """Ask about each thing, all at once; return one verdict per question and repeat."""
    verdicts: dict[int, Verdict] = {}
    asks: dict[int, Ask] = {}
    for index, question, repeat in item.positions():
        reason = question.unscored
        if reason is None and lacks_caption(item, caption, settings):
            reason = Reason.NO_CAPTION
        if reason is not None:
            verdicts[index] = Verdict(index, Unscored(reason), Evidence(explanation=question.note))
            continue
        fields = {"caption": caption or "", "thing": question.payload.thing}
        asks[index] = Ask(item, question, repeat, PROMPT, fields, DECODING)
    strict = settings.get(READING.name, READING.default) == "strict"
    results = yield from ask_and_read(
        tuple(asks.values()), lambda _, reply: read(reply, strict=strict)
    )
    for index, (outcome, evidence) in zip(asks, results, strict=True):
        verdicts[index] = Verdict(index, outcome, evidence)
    return tuple(verdicts[index] for index, _, _ in item.positions())


def read(reply: str, *, strict: bool) -> Reading:
    """Yes, no or unreadable. A reply with more words than one is marked as repaired."""
    words = reply.strip().strip(".!").lower().split()
    if not words or (strict and len(words) > 1):
        return Reading(UNREADABLE)
    word = words[0].strip(".,!:")
    if word not in ("yes", "no"):
        return Reading(UNREADABLE)
    return Reading(Scored(Fraction(int(word == "yes"))), repaired=len(words) > 1)


def reduce(outcomes: Iterable[tuple[Item, Outcomes]]) -> Tally:
    """Sums per medium: intervals leave out whole media."""
    tally = Tally()
    for item, found in outcomes:
        for outcome in found.values():
            if isinstance(outcome, Scored):
                tally.add("all", item.cluster, scored=1, mentioned=int(outcome.score), unscored=0)
            else:
                tally.add("all", item.cluster, scored=0, mentioned=0, unscored=1)
    return tally


def share(sums: Mapping[str, Sums]) -> float | None:
    """Percent of the scored things that are mentioned, None without any."""
    scored = sums["all"].get("scored", 0)
    return float(100 * sums["all"]["mentioned"] / Fraction(scored)) if scored else None


def count(sums: Mapping[str, Sums]) -> float:
    """How many questions have a score."""
    return float(sums["all"].get("scored", 0))


def report() -> ReportLayout:
    """The figures and the table that shows them."""
    figures = (
        Figure(("mentioned",), ("all",), share, Kind.PROPORTION, ("mentioned", "scored")),
        Figure(("n_scored",), ("all",), count, Kind.COUNT, bounds=(0.0, math.inf)),
    )
    row = TableRow("all things", (("mentioned",), ("n_scored",)))
    table = Table("Mentions", ("mentioned (%)", "n"), (row,), chart=0)
    return ReportLayout(("mentioned",), figures, (table,))


class Mentions:
    """Which annotated things a caption mentions."""

    name = NAME
    title = "Mentions"
    role = "judge"
    settings: tuple[Setting, ...] = (READING, BLANK_CAPTION)
    data = Layout(FileFormat.TABLE)
    captions = Layout(FileFormat.OBJECT)
    caption_prompts: tuple[str, ...] = ("simple",)
    replies = Layout(FileFormat.TABLE)
    # Nothing is asked of the picture itself.
    qa_data: Layout | None = None
    qa_replies: Layout | None = None
    # It asks for no nouns and no embeddings.
    needs_language = False
    labels = ("mentioned", "not mentioned", "unscored")
    # No names of which one is right, so none that a caption could list.
    alternatives: tuple[tuple[str, ...], ...] = ()
    # Nothing was published of it; a paper's figures would get a recipe.
    recipes: Mapping[str, ProtocolRecipe] = {}

    def plan(self, rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
        return plan(rows, request)

    def group(self, item: Item) -> str:
        """`--limit` draws that many pictures."""
        return "pictures"

    def read_captions(self, rows: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
        return read_captions(rows)

    def caption_may_be_unused(self, sample: str) -> bool:
        return False

    def caption_prompt(self, group: str, prompt: str) -> tuple[str, Mapping[str, str]]:
        if prompt not in self.caption_prompts:
            raise UnknownName("caption prompt of mentions", prompt, self.caption_prompts)
        return "mentions/caption", {}

    def encode(self, question: Question[Any]) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(question.payload)}

    def decode(self, written: Mapping[str, Any]) -> ThingQuestion:
        if not isinstance(written.get("schema"), int) or "thing" not in written:
            raise InvalidInput("not a question of mentions")
        if written["schema"] > SCHEMA:
            raise NewerSchema(f"schema {written['schema']} is newer than {SCHEMA}")
        return ThingQuestion(str(written["thing"]))

    def examine(self, item: Item, caption: str | None, settings: Settings) -> Examination:
        return examine(item, caption, settings)

    def generation(self, source: Source, settings: Settings, repeats: int | None) -> Generation:
        """What `examine` asks with: every report says so."""
        return Generation((PROMPT,), DECODING, repeats or 1)

    def recorded(self, rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
        """Rows {image, thing, response}, for `--judge replay:DIR`."""
        for row in rows:
            yield (row.text("image"), row.text("thing")), str(row.fields.get("response") or "")

    def record_key(self, item: Item, question: Question[Any], repeat: int) -> RecordKey:
        return (item.key, question.payload.thing)

    def describe(self, item: Item, question: Question[Any]) -> Described:
        thing = question.payload.thing
        return Described("things", f"Does the caption mention {thing}?", "yes")

    def label(self, question: Question[Any], outcome: Outcome) -> str:
        if not isinstance(outcome, Scored):
            return "unscored"
        return "mentioned" if outcome.score else "not mentioned"

    def scores(self, question: Question[Any]) -> tuple[Fraction, ...]:
        """What people may give as well, whose labels `caliper agreement` reads."""
        return Fraction(0), Fraction(1)

    def reduce(self, outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
        return reduce(outcomes)

    def report(self, tally: Tally, settings: Settings) -> ReportLayout:
        return report()


BENCHMARK: Benchmark = Mentions()


def try_it() -> None:
    """One annotated picture from its row to its figures, driven by hand."""
    annotated = Row("things.jsonl", 1, {"image": "a.jpg", "things": ["dog", "rug"]})
    (item,) = BENCHMARK.plan([annotated], PlanRequest(settings={}))

    examination = BENCHMARK.examine(item, "A dog sleeps on the floor.", {})
    asks = next(examination)
    assert [ask.fields["thing"] for ask in asks] == ["dog", "rug"]
    try:
        examination.send([Reply("Yes."), Reply("No, only a floor.")])
    except StopIteration as stop:
        verdicts = stop.value

    places = {index: (question.ordinal, repeat) for index, question, repeat in item.positions()}
    outcomes = {places[verdict.index]: verdict.outcome for verdict in verdicts}
    tally = BENCHMARK.reduce([(item, outcomes)], {})
    estimates = estimate_all(BENCHMARK.report(tally, {}).figures, tally)
    assert estimates["mentioned",].value == 50.0
    assert estimates["n_scored",].value == 2


if __name__ == "__main__":
    try_it()
