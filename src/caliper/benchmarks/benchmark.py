"""The interface of a benchmark: one declaration of pure functions.

A benchmark reads rows into items, examines a caption by yielding what it needs, and turns
outcomes into sums and figures. It does no I/O and keeps no state. docs/add-a-benchmark.md
walks through one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from caliper.benchmarks.base import (
    BLANK_CAPTIONS,
    CAPTION_LENGTH,
    TRUNCATED_CAPTIONS,
    Better,
    CheckQuestion,
    Outcomes,
    PlanRequest,
    ProtocolRecipe,
    QuestionText,
    RecordKey,
    ReportLayout,
    Setting,
    Settings,
)
from caliper.benchmarks.stability import SPREADS
from caliper.core.errors import UnknownName
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Answer, Ask, Examination, Item, Question, Source
from caliper.core.report import Generation, Path
from caliper.core.rows import Row
from caliper.core.tally import Tally

_TABLE = Layout(FileFormat.TABLE)
_COUNTS = {
    *("n_scored", "n_unscored"),
    *(path[-1] for path in (CAPTION_LENGTH, TRUNCATED_CAPTIONS, BLANK_CAPTIONS)),
}
_SPREADS = tuple(f"{name}_" for name, _ in SPREADS)


def recorded_by_ordinal(rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
    """Recorded replies of rows {item, question, response}: `question` counts within the item,
    from 0. Rows without a response are left out.
    """
    del source  # One format for captions and media.
    for row in rows:
        if (response := row.fields.get("response")) is not None:
            yield (row.text("item"), str(row.fields.get("question"))), str(response)


def ordinal_key(item: Item, question: Question[Any], repeat: int) -> RecordKey:
    """The key of `recorded_by_ordinal`: every repeat gets the same reply."""
    del repeat
    return item.key, str(question.ordinal)


def right_or_wrong(question: Question[Any], outcome: Outcome) -> str:
    """Correct for the score 1, wrong for any other, unscored."""
    del question
    if not isinstance(outcome, Scored):
        return "unscored"
    return "correct" if outcome.score == 1 else "wrong"


def dimension(path: Path, group: str = "") -> str | None:
    """The dimension of a figure in live scores: `overall` for `s_unified`, `average` for
    `average.f1`, `OCR` for `tasks.OCR.f1` where `tasks` is the `group`. None for figures that
    only reports have.
    """
    match path:
        case (_,):
            return "overall"
        case (name, _):
            return name
        case (first, name, _) if first == group:
            return name
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One benchmark. What has a default may be left out.

    `name` is that of its options, keys and prompt templates, `title` the one that people read,
    `about` the help of its commands. `role` says who answers questions about a caption: judge
    or reader.
    """

    name: str
    title: str
    about: str
    role: str
    data: Layout
    captions: Layout

    plan: Callable[[Iterable[Row], PlanRequest], Iterator[Item]]
    """Items in the order of the rows, `first` left at 0.

    A row that no question can be made of raises InvalidInput when the file itself is broken (a
    missing id, a duplicate, an unknown task), and becomes an item whose question is
    Unscored(bad_input) when only this sample is (`Question.note` says why).
    """
    read_captions: Callable[[Iterable[Row]], Iterator[tuple[str, str | None]]]
    """(sample id, text) of supplied captions, None for null, which is no caption. Raises
    InvalidInput naming file and line.
    """
    encode: Callable[[Any], dict[str, Any]]
    """The payload of a question as a JSON object with its schema number."""
    decode: Callable[[Mapping[str, Any]], Any]
    """The payload that `encode` wrote. Raises NewerSchema or InvalidInput."""
    examine: Callable[[Item, str | None, Settings], Examination]
    """Ask all questions of the item about a caption, which is None for items asked from the media.
    """
    generation: Callable[[Source, Settings, int | None], Generation]
    """How questions from a source are asked: their templates, their decoding, and how many times
    each, where the run gives a number of repeats.
    """
    describe: Callable[[Item, Question[Any]], QuestionText]
    """The question as people read it."""
    reduce: Callable[[Iterable[tuple[Item, Outcomes]], Settings], Tally]
    """The tally of items with their outcomes, in plan order. Merging tallies of whole samples
    gives the tally of all.
    """
    report: Callable[[Tally, Settings], ReportLayout]
    """The figures and tables for what the tally holds."""

    settings: tuple[Setting, ...] = ()
    """The protocol choices."""
    better: Mapping[str, Better] = field(default_factory=dict)
    """Which values of a figure are the better ones, by the first part of its path or else by the
    last. Gates and rankings need it.
    """
    dimension: Callable[[Path], str | None] = dimension
    """The dimension of a figure in live scores, None for figures that only reports have."""
    group: Callable[[Item], str] = lambda _: "all"
    """The task or domain that `--limit` counts in."""
    labels: tuple[str, ...] = ("correct", "wrong", "unscored")
    """All words of `label`."""
    label: Callable[[Question[Any], Outcome], str] = right_or_wrong
    """The word for an outcome."""
    scores: Callable[[Question[Any]], tuple[Fraction, ...]] = lambda _: (Fraction(0), Fraction(1))
    """Every score that a judge or a person may give; empty for what nobody judges."""

    replies: Layout = _TABLE
    """Where recorded replies are."""
    recorded: Callable[[Iterable[Row], Source], Iterator[tuple[RecordKey, str]]] = (
        recorded_by_ordinal
    )
    """Recorded replies by key, as the model gave them."""
    record_key: Callable[[Item, Question[Any], int], RecordKey] = ordinal_key
    """The key under which `recorded` yields the reply to a repeat of a question."""
    qa_data: Layout | None = None
    """Where questions from the media are, if they have a file of their own."""
    qa_replies: Layout | None = None
    """Where recorded replies to questions from the media are, if there are such questions."""

    caption_prompts: tuple[str, ...] = ("simple",)
    """The names of the prompts for a caption, the default first."""
    caption_template: Callable[[str, str], tuple[str, Mapping[str, str]]] | None = None
    """The template and its fields of one of `caption_prompts` for a sample of a group. A run
    with a taxonomy of its own for the group fills the field `taxonomy` with that. Raises
    UnknownName for a group where the words depend on it. Default: the template `caption`.
    """
    unused_caption: Callable[[str], bool] = lambda _: False
    """Whether the caption of a sample that no item uses is nothing to warn about."""
    alternatives: tuple[tuple[str, ...], ...] = ()
    """Groups of names, lower case, of which one is right about a sample: a caption that states
    nearly all of a group has a sign of stuffing.
    """
    needs_language: bool = False
    """Whether examining asks for nouns and embeddings."""
    rules: Callable[[Ask], Answer] | None = None
    """The replies of the lexical judge, without a model. Default: it cannot answer."""
    recipes: Mapping[str, ProtocolRecipe] = field(default_factory=dict)
    """How known figures were made, by name."""

    looks_like: Callable[[str, Any], str | None] = lambda *_: None
    """Whether a file holds its `data` or `captions`, by the file's suffix and its first row (of
    an object: its first key); None for anything else.
    """
    check_question: Callable[[Mapping[str, Any], Settings], CheckQuestion] | None = None
    """A question of the folder's anchors.yaml or canary.yaml, planned. Only for benchmarks that
    have such a file.
    """
    anchor_label: Callable[[Question[Any], Outcome], str] | None = None
    """The word by which verdicts on anchors are compared. Default: `label`."""

    def caption_prompt(self, group: str, prompt: str) -> tuple[str, Mapping[str, str]]:
        """The template of the prompt pack, and its fields, that ask a model for the caption of a
        sample of that `group`. Raises UnknownName for a prompt that the benchmark does not have,
        and what `caption_template` raises.
        """
        if prompt not in self.caption_prompts:
            raise UnknownName(f"caption prompt of {self.title}", prompt, self.caption_prompts)
        if self.caption_template is None:
            return f"{self.name}/caption", {}
        return self.caption_template(group, prompt)

    def direction(self, path: Path) -> Better | None:
        """Which values of the figure at `path` are better; None for one that it does not have."""
        if path[-1] in _COUNTS or path[-1].startswith(_SPREADS):
            return Better.NEITHER
        return self.better.get(path[0], self.better.get(path[-1]))
