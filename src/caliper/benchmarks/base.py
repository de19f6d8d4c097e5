"""What a benchmark is to the rest of the house.

A benchmark is a folder of pure functions behind this one interface: it reads rows into
items, examines a caption by yielding what it needs, and turns outcomes into sums and
figures. It does no I/O and keeps no state. docs/add-a-benchmark.md walks through one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from caliper.core.keys import text_digest
from caliper.core.layout import Layout
from caliper.core.outcome import Outcome
from caliper.core.question import Examination, Item, Question, Source
from caliper.core.report import Figure, Generation, Path, Table
from caliper.core.sample import Row
from caliper.core.tally import Tally

Settings = Mapping[str, str]
RecordKey = tuple[str, ...]
CAPTION_LENGTH: Path = ("caption_length",)
"""Mean words a caption: aggregation adds it to every report, so tables may show it."""
TRUNCATED_CAPTIONS: Path = ("truncated_captions",)
"""How many captions ran into the limit of output tokens: aggregation adds it where a model wrote
them.
"""
BLANK_CAPTIONS: Path = ("blank_captions",)
"""How many captions are blank: aggregation adds it where they count as answers."""
Outcomes = Mapping[tuple[int, int], Outcome]
"""The outcomes of one item by (ordinal, repeat)."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One protocol choice: its name, what it may be, what it is when nobody says.

    `choices` is empty for a number, whose least and greatest value are in `range`; it has to
    be whole where the default is. `absent` is what a stored spec without the setting means, where
    that is not the default: specs leave the setting out then.
    """

    name: str
    default: str
    help: str
    choices: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    absent: str | None = None


CAPTION_FENCE = Setting(
    name="caption_fence",
    default="on",
    help="captions stand between marks in prompts, which say before them what these mean;"
    " off sends printed prompts as they are printed",
    choices=("on", "off"),
)
"""A choice that every benchmark has which asks about captions."""


def fence(settings: Settings, caption: str) -> str:
    """The digest of the caption for `Ask.fence`; empty where the settings want no marks."""
    on = settings.get(CAPTION_FENCE.name, CAPTION_FENCE.default) == "on"
    return text_digest(caption) if on else ""


BLANK_CAPTION = Setting(
    name="blank_caption",
    default="answer",
    help="a blank caption is the checkpoint's answer, which mentions nothing; or its questions are"
    " unscored",
    choices=("answer", "unscored"),
    absent="unscored",
)
"""A setting of every benchmark that asks about captions."""


def blank_is_answer(settings: Settings) -> bool:
    """Whether a blank caption counts as an answer."""
    return settings.get(BLANK_CAPTION.name, BLANK_CAPTION.absent) == "answer"


def lacks_caption(item: Item, caption: str | None, settings: Settings) -> bool:
    """Whether the item's questions are Unscored(no_caption): they are about a caption, and nobody
    gave one, or it is blank and blank captions are no answers.
    """
    if item.source is not Source.CAPTION:
        return False
    return caption is None or (not caption.strip() and not blank_is_answer(settings))


@dataclass(frozen=True, slots=True)
class Ingredient:
    """One value of a recipe, and the source that states it: a paper's section, "code" for the
    released script, "README".

    `key` is a setting of the benchmark, or a key of a run file: prompt, repeats, caption_tokens,
    or `preparation.` and one of its own. `needs` is "captions" or "captioner" where only a run
    with supplied captions, or with a captioner, can have the value.
    """

    key: str
    value: str
    source: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class RecipeGap:
    """What a recipe cannot set, as a sentence; `needs` as for an ingredient."""

    text: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class ProtocolRecipe:
    """How known figures of a benchmark were made. `models` names who worked in each role, by a
    part of the model's name.
    """

    ingredients: tuple[Ingredient, ...]
    models: Mapping[str, str]
    gaps: tuple[RecipeGap, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What planning depends on beside the rows.

    `captions` holds the caption keys that were supplied, None when a model will write
    them. `qa_rows` are the rows of the dataset in question form, None when questions from
    the media are not asked; benchmarks whose own questions serve take an empty iterable.
    """

    settings: Settings
    seed: int = 0
    repeats: int | None = None
    captions: Collection[str] | None = None
    qa_rows: Iterable[Row] | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """A question told to people: its dimension, its text, and the expected answer."""

    dimension: str
    question: str
    expected: str


@dataclass(frozen=True, slots=True)
class ReportLayout:
    """Which figures a benchmark reports for a tally, and the tables that show them."""

    headline: Path
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


class Benchmark(Protocol):
    """One benchmark. `role` says who answers questions about a caption: judge or reader.
    `caption_prompts` names what `caption_prompt` knows, `labels` all words that `label` has.
    `alternatives` are groups of names, lower case, of which one is right about a sample: a caption
    that states nearly all of a group has a sign of stuffing.
    `recipes` say by name how known figures were made.
    """

    name: str
    title: str
    role: str
    settings: tuple[Setting, ...]
    data: Layout
    captions: Layout
    caption_prompts: tuple[str, ...]
    replies: Layout
    qa_data: Layout | None
    qa_replies: Layout | None
    needs_language: bool
    labels: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]
    recipes: Mapping[str, ProtocolRecipe]

    def plan(self, rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
        """Items in the order of the rows, `first` left at 0.

        A row that no question can be made of raises InvalidInput when the file itself is
        broken (a missing id, a duplicate, an unknown task), and becomes an item whose
        question is Unscored(bad_input) when only this sample is (`Question.note` says why).
        """
        ...

    def group(self, item: Item) -> str:
        """The task or domain that `--limit` counts in."""
        ...

    def read_captions(self, rows: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
        """(sample id, text) of supplied captions, None for null, which is no caption. Raises
        InvalidInput naming file and line.
        """
        ...

    def caption_may_be_unused(self, sample: str) -> bool:
        """Whether people may supply a caption that no item uses, so that nobody is warned."""
        ...

    def caption_prompt(self, group: str, prompt: str) -> tuple[str, Mapping[str, str]]:
        """The template of the prompt pack, and its fields, that ask a model for the caption of
        a sample of that `group`. A run with a taxonomy of its own for the group fills the
        field `taxonomy` with that. Raises UnknownName for a prompt that the benchmark does not
        have, and for a group where the words depend on it.
        """
        ...

    def encode(self, question: Question[Any]) -> dict[str, Any]:
        """The payload as a JSON object with its schema number; `decode` reads it back."""
        ...

    def decode(self, written: Mapping[str, Any]) -> Any:
        """The payload that `encode` wrote. Raises NewerSchema or InvalidInput."""
        ...

    def examine(self, item: Item, caption: str | None, settings: Settings) -> Examination:
        """Ask all questions of the item. `caption` is None for items asked from the media."""
        ...

    def generation(self, source: Source, settings: Settings, repeats: int | None) -> Generation:
        """How questions from `source` are asked: their templates, their decoding, and how many
        times each, where the run says `repeats`.
        """
        ...

    def recorded(self, rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
        """Recorded replies by key, as the model gave them."""
        ...

    def record_key(self, item: Item, question: Question[Any], repeat: int) -> RecordKey:
        """The key under which `recorded` yields the reply to this question."""
        ...

    def describe(self, item: Item, question: Question[Any]) -> Described:
        """The question as people read it."""
        ...

    def label(self, question: Question[Any], outcome: Outcome) -> str:
        """The word for an outcome: correct, wrong, not mentioned, cannot answer, unscored ..."""
        ...

    def scores(self, question: Question[Any]) -> tuple[Fraction, ...]:
        """Every score that a judge or a person may give; empty for what nobody judges."""
        ...

    def reduce(self, outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
        """The tally of items with their outcomes, in plan order. Merging tallies of whole
        samples gives the tally of all.
        """
        ...

    def report(self, tally: Tally, settings: Settings) -> ReportLayout:
        """The figures and tables for what the tally holds."""
        ...
