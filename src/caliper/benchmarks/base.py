"""Value types used by benchmark declarations; the interface is in `benchmark.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum
from fractions import Fraction

from caliper.core.keys import text_digest
from caliper.core.outcome import Outcome
from caliper.core.question import Item, Source
from caliper.core.report import Figure, Kind, Path, Table
from caliper.core.rows import Row
from caliper.core.tally import Sums

Settings = Mapping[str, str]
RecordKey = tuple[str, ...]
CAPTION_LENGTH: Path = ("caption_length",)
"""Mean words per caption. Aggregation adds it to every report, so tables may show it."""
TRUNCATED_CAPTIONS: Path = ("truncated_captions",)
"""Number of captions cut at the output token limit. Aggregation adds it if a model wrote them."""
BLANK_CAPTIONS: Path = ("blank_captions",)
"""Number of blank captions. Aggregation adds it if blank captions count as answers."""
LEXICAL_WARNING = (
    "Scored by built-in rules over words (no model): for smoke runs and trends, "
    "never for comparison with published figures."
)
UNMEASURED = "Agreement with a model has not been measured on this benchmark."
Outcomes = Mapping[tuple[int, int], Outcome]
"""The outcomes of one item by (ordinal, repeat)."""


class Better(StrEnum):
    """Whether higher or lower values of a figure are better.

    NEITHER applies to counts and to figures about the judge instead of the checkpoint, such as
    the spread over repeats.
    """

    MORE = "more"
    LESS = "less"
    NEITHER = "neither"


def is_file_name(key: object) -> bool:
    """Whether the first key of an object is a file name, that is, has a suffix.

    This distinguishes captions keyed by picture from captions keyed by another id.
    """
    stem, _, ending = str(key).rpartition("/")[2].rpartition(".")
    return isinstance(key, str) and bool(stem and ending)


@dataclass(frozen=True, slots=True)
class Setting:
    """A protocol setting: its name, default and allowed values.

    For a number `choices` is empty and `range` holds the minimum and maximum; it must be whole
    if the default is. `absent` is the value implied by a stored spec without the setting, if
    that is not the default; specs then omit the setting.
    """

    name: str
    default: str
    _: KW_ONLY
    choices: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    absent: str | None = None


def setting_reader(declared: Iterable[Setting]) -> Callable[[Settings, str], str]:
    """Return a function that reads a setting by name: its value, or its default."""
    defaults = {setting.name: setting.default for setting in declared}
    return lambda settings, name: settings.get(name, defaults[name])


CAPTION_FENCE = Setting("caption_fence", "on", choices=("on", "off"))
"""A setting of every benchmark that asks about captions."""


def fence(settings: Settings, caption: str) -> str:
    """Return the caption's digest for `Ask.fence`; empty if the settings turn fences off."""
    on = settings.get(CAPTION_FENCE.name, CAPTION_FENCE.default) == "on"
    return text_digest(caption) if on else ""


BLANK_CAPTION = Setting(
    "blank_caption", "answer", choices=("answer", "unscored"), absent="unscored"
)
"""A setting of every benchmark that asks about captions."""


def blank_is_answer(settings: Settings) -> bool:
    """Whether a blank caption counts as an answer."""
    return settings.get(BLANK_CAPTION.name, BLANK_CAPTION.absent) == "answer"


def lacks_caption(item: Item, caption: str | None, settings: Settings) -> bool:
    """Whether the item's questions are Unscored(no_caption).

    They are if they concern a caption and it is missing, or blank and blank captions do not
    count as answers.
    """
    if item.source is not Source.CAPTION:
        return False
    return caption is None or (not caption.strip() and not blank_is_answer(settings))


@dataclass(frozen=True, slots=True)
class Ingredient:
    """A value of a recipe and its source: a paper section, "code" (released script) or "README".

    `key` is a setting of the benchmark or a key of a run file: prompt, repeats, caption_tokens,
    or `preparation.` followed by one of its keys. `needs` is "captions" or "captioner" if the
    value applies only to runs with supplied captions, or with a captioner.
    """

    key: str
    value: str
    source: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class RecipeGap:
    """A sentence about something a recipe cannot set; `needs` as for an ingredient."""

    text: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class ProtocolRecipe:
    """How published figures of a benchmark were produced.

    `models` maps each role to a part of the model's name.
    """

    ingredients: tuple[Ingredient, ...]
    models: Mapping[str, str]
    gaps: tuple[RecipeGap, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """The inputs of planning besides the rows.

    `captions` holds the keys of supplied captions; None if a model will write the captions.
    `qa_rows` are the rows of the QA dataset; None if no questions about the media are asked.
    Benchmarks that reuse their own questions take an empty iterable.
    """

    settings: Settings
    seed: int = 0
    repeats: int | None = None
    captions: Collection[str] | None = None
    qa_rows: Iterable[Row] | None = None


@dataclass(frozen=True, slots=True)
class QuestionText:
    """A question in readable form: its dimension, text, expected answer, and category if any."""

    dimension: str
    question: str
    expected: str
    category: str = ""


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """A planned question with a known answer, for checking a judge or reader.

    It is the last question of `item`. `form` is the form of the reply (open, labels, choice or
    scale) and selects the texts of the canary attacks; `gaps` fill the gaps in those texts. A
    correct caption scores at least `good_score`.
    """

    item: Item
    form: str = "open"
    gaps: Mapping[str, str] = field(default_factory=dict)
    good_score: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class ReportLayout:
    """The figures a benchmark reports for a tally, and the tables that show them."""

    headline: Path
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


def count_figure(path: Path, cells: tuple[str, ...], amount: str) -> Figure:
    """Return the figure at `path` that counts an amount over the cells."""

    def statistic(sums: Mapping[str, Sums]) -> float:
        return float(sum(sums.get(cell, {}).get(amount, 0) for cell in cells))

    return Figure(path, cells, statistic, Kind.COUNT)
