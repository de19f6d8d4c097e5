"""The values that a benchmark is declared with and works on. `benchmark.py` has the interface."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from caliper.core.keys import text_digest
from caliper.core.outcome import Outcome
from caliper.core.question import Item, Source
from caliper.core.report import Figure, Path, Table
from caliper.core.rows import Row

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


class Better(StrEnum):
    """Which value of a figure is the better one.

    Neither are counts, which say how much was looked at, and what tells of the judge instead of
    the checkpoint: how far its repeats lie apart.
    """

    MORE = "more"
    LESS = "less"
    NEITHER = "neither"


def is_file_name(key: object) -> bool:
    """Whether the first key of an object is a file's name, which has an ending: what tells
    captions by picture from captions by another id.
    """
    stem, _, ending = str(key).rpartition("/")[2].rpartition(".")
    return isinstance(key, str) and bool(stem and ending)


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
class QuestionText:
    """A question told to people: its dimension, its text, and the expected answer."""

    dimension: str
    question: str
    expected: str


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """A question with a known answer, planned, to try a judge or reader on.

    The last question of `item` is the one. `form` is the form of its reply (open, labels, choice
    or scale), which selects the texts of the canary's attacks; `gaps` fill the gaps in those
    texts. A caption that is right scores at least `good`.
    """

    item: Item
    form: str = "open"
    gaps: Mapping[str, str] = field(default_factory=dict)
    good: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class ReportLayout:
    """Which figures a benchmark reports for a tally, and the tables that show them."""

    headline: Path
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
