"""The interface of a benchmark: a declaration made of pure functions.

A benchmark turns rows into items, examines a caption by yielding requests, and turns outcomes
into sums and figures. It does no I/O and keeps no state. docs/add-a-benchmark.md walks through
an example.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from caliper.benchmarks.base import (
    BLANK_CAPTIONS,
    CAPTION_LENGTH,
    TRUNCATED_CAPTIONS,
    UNMEASURED,
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
from caliper.core.taxonomy import Taxonomy

_OBJECT, _TABLE = Layout(FileFormat.OBJECT), Layout(FileFormat.TABLE)
_COUNTS = {
    *("n_scored", "n_unscored"),
    *(path[-1] for path in (CAPTION_LENGTH, TRUNCATED_CAPTIONS, BLANK_CAPTIONS)),
}
_SPREADS = tuple(f"{name}_" for name, _ in SPREADS)


def captions_by_sample(rows: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
    """Yield (sample, caption) from an object {sample: caption}; null means no caption.

    Raises InvalidInput for a caption that is not text and for a second one of a sample.
    """
    seen: set[str] = set()
    for row in rows:
        sample, caption = row.text("key"), row.fields.get("value")
        if not isinstance(caption, str | None):
            raise row.error(sample, f"expected a caption, found {caption!r:.60}")
        if sample in seen:
            raise row.error(sample, "it has two captions")
        seen.add(sample)
        yield sample, caption


def replies_by_ordinal(rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
    """Yield recorded replies from rows {item, question, response}.

    `question` is the ordinal within the item, from 0. Rows without a response are skipped.
    """
    del source  # One format for captions and media.
    for row in rows:
        if (response := row.fields.get("response")) is not None:
            yield (row.text("item"), str(row.fields.get("question"))), str(response)


def ordinal_key(item: Item, question: Question[Any], repeat: int) -> RecordKey:
    """Return the key of `replies_by_ordinal`; all repeats share one reply."""
    del repeat
    return item.key, str(question.ordinal)


def correctness_label(question: Question[Any], outcome: Outcome) -> str:
    """Return "correct" for score 1, "wrong" for any other score, or "unscored"."""
    del question
    if not isinstance(outcome, Scored):
        return "unscored"
    return "correct" if outcome.score == 1 else "wrong"


def dimension(path: Path, group: str = "") -> str | None:
    """Return the dimension of a figure in live scores; None for figures shown only in reports.

    Examples: `overall` for `s_unified`, `average` for `average.f1`, and `OCR` for
    `tasks.OCR.f1` if `group` is `tasks`.
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
    """A benchmark. Fields with a default are optional.

    `name` identifies the benchmark in options, keys and prompt templates; `title` is shown to
    people; `description` is the help text of its commands. `role` is the model that answers
    questions about a caption: judge or reader.
    """

    name: str
    title: str
    description: str
    role: str
    data: Layout

    plan: Callable[[Iterable[Row], PlanRequest], Iterator[Item]]
    """Plan the items in row order, with `first` left at 0.

    A broken file (missing id, duplicate, unknown task) raises InvalidInput. If only one sample
    is unusable, it becomes an item whose question is Unscored(bad_input), with the cause in
    `Question.note`.
    """
    encode: Callable[[Any], dict[str, Any]]
    """Encode a question's payload as a JSON object with its schema number."""
    decode: Callable[[Mapping[str, Any]], Any]
    """Decode a payload written by `encode`. Raises NewerSchema or InvalidInput."""
    examine: Callable[[Item, str | None, Settings], Examination]
    """Ask all questions of an item. The caption is None for questions about the media."""
    generation: Callable[[Source, Settings, int | None], Generation]
    """Return the templates, decoding and repeats for questions about a source.

    The last argument is the number of repeats set for the run, if any.
    """
    describe: Callable[[Item, Question[Any]], QuestionText]
    """Return the question in readable form."""
    reduce: Callable[[Iterable[tuple[Item, Outcomes]], Settings], Tally]
    """Reduce items and their outcomes, in plan order, to a tally.

    Tallies over disjoint sets of whole samples can be merged into the tally of all samples.
    """
    report: Callable[[Tally, Settings], ReportLayout]
    """Return the figures and tables for a tally."""

    words: Mapping[str, str] = field(default_factory=dict)
    """The spellings of words in its internal names, other than in lower case: `kt` is "KT"."""
    settings: tuple[Setting, ...] = ()
    """The protocol settings."""
    better: Mapping[str, Better] = field(default_factory=dict)
    """Whether higher or lower is better, by the first or else the last part of a figure's path.

    Gates and rankings need it.
    """
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The least and greatest values of figures that are not percentages, named as in `better`."""
    unjudged: frozenset[str] = frozenset()
    """The figures that no judge or reader has a part in, named as in `better`."""
    dimension: Callable[[Path], str | None] = dimension
    """Return a figure's dimension in live scores; None for figures shown only in reports."""
    group: Callable[[Item], str] = lambda _: "all"
    """Return the task or domain that `--limit` applies to."""
    pools: Callable[[Path, Settings], bool] = lambda *_: False
    """Return whether a figure pools the questions of several groups: it is biased where groups are
    drawn in different shares.
    """
    is_divisible: bool = False
    """Whether some questions of an item can be judged, and others left out."""
    labels: tuple[str, ...] = ("correct", "wrong", "unscored")
    """All values that `label` returns."""
    label: Callable[[Question[Any], Outcome], str] = correctness_label
    """Return the label of an outcome."""
    scores: Callable[[Question[Any]], tuple[Fraction, ...]] = lambda _: (Fraction(0), Fraction(1))
    """Return all scores a judge or person may give; empty for questions that are not judged. Scores
    outside of their range are not entered.
    """

    captions: Layout = _OBJECT
    """The file layout of supplied captions."""
    read_captions: Callable[[Iterable[Row]], Iterator[tuple[str, str | None]]] = captions_by_sample
    """Yield (sample id, text) per supplied caption; the text is None for null (no caption).

    Raises InvalidInput with file and line.
    """
    replies: Layout = _TABLE
    """The file layout of recorded replies."""
    read_replies: Callable[[Iterable[Row], Source], Iterator[tuple[RecordKey, str]]] = (
        replies_by_ordinal
    )
    """Yield recorded replies by key, verbatim."""
    record_key: Callable[[Item, Question[Any], int], RecordKey] = ordinal_key
    """Return the key under which `read_replies` yields the reply to a repeat of a question."""
    qa_data: Layout | None = None
    """The file layout of questions about the media, if they have their own file."""
    qa_replies: Layout | None = None
    """The file layout of recorded replies to questions about the media, if there are any."""

    samples: Callable[[Iterable[Row]], Iterator[tuple[str, tuple[str, ...]]]] | None = None
    """Yield the samples that have captions, each with its media. Default: as planned."""

    caption_prompts: tuple[str, ...] = ("simple",)
    """The names of the caption prompts, the default first."""
    caption_template: Callable[[str, str], tuple[str, Mapping[str, str]]] | None = None
    """Return the template and fields of a caption prompt, given a sample's group and the prompt.

    A run with its own taxonomy for the group overrides the field `taxonomy`, which is empty if
    nothing is printed for the group. Raises UnknownName for an unknown group if the wording depends
    on it. Default: the template `caption`.
    """
    unused_caption: Callable[[str], bool] = lambda _: False
    """Whether to suppress the warning about a caption for a sample that no item uses."""
    alternatives: tuple[tuple[str, ...], ...] = ()
    """Groups of mutually exclusive names, in lower case.

    A caption that states nearly all names of a group shows a sign of stuffing.
    """
    many_labels: Callable[[Question[Any]], int | None] = lambda _: None
    """Return how many labels in a verdict, at least 3, are a sign of stuffing; None if none are."""
    needs_language: bool = False
    """Whether `examine` requests nouns and embeddings."""
    rules: Callable[[Ask], Answer] | None = None
    """Answer as the lexical judge, without a model. Default: it cannot answer."""
    lexical_agreement: Callable[[Collection[Path]], str] = lambda _: UNMEASURED
    """Return how `rules` agree with a model, for a report with these figures; may be empty."""
    recipes: Mapping[str, ProtocolRecipe] = field(default_factory=dict)
    """Recipes of published figures, by name."""

    recognize: Callable[[str, Any], str | None] = lambda *_: None
    """Tell whether a file holds `data` or `captions`; None for anything else.

    The arguments are the file's suffix and its first row (its first key, for an object).
    """
    check_question: Callable[[Mapping[str, Any], Settings], CheckQuestion] | None = None
    """Plan a question from the folder's anchors.yaml or canary.yaml, if it has such a file."""
    anchor_label: Callable[[Question[Any], Outcome], str] | None = None
    """Return the label by which verdicts on anchors are compared. Default: `label`."""

    def caption_prompt(
        self, group: str, prompt: str, taxonomy: Taxonomy | None = None
    ) -> tuple[str, Mapping[str, str]]:
        """Return the template and fields that ask a model to caption a sample of `group`.

        The field `taxonomy` is empty if the group has neither printed nodes nor some in `taxonomy`.
        Raises UnknownName for an unknown prompt, and whatever `caption_template` raises.
        """
        if prompt not in self.caption_prompts:
            raise UnknownName(f"caption prompt of {self.title}", prompt, self.caption_prompts)
        if self.caption_template is None:
            return f"{self.name}/caption", {}
        name, fields = self.caption_template(group, prompt)
        if taxonomy and group in taxonomy:
            fields = {**fields, "taxonomy": "\n".join(taxonomy[group])}
        return name, fields

    def score_range(self, question: Question[Any]) -> tuple[Fraction, Fraction]:
        """Return the least and greatest score of a question; if it is not judged, those of a
        similarity.
        """
        scores = self.scores(question) or (Fraction(-1), Fraction(1))
        return min(scores), max(scores)

    def direction(self, path: Path) -> Better | None:
        """Whether higher or lower is better for the figure at `path`; None if unknown."""
        if path[-1] in _COUNTS or path[-1].startswith(_SPREADS):
            return Better.NEITHER
        return self.better.get(path[0], self.better.get(path[-1]))

    def bounds_of(self, path: Path) -> tuple[float, float]:
        """Return the least and greatest value of the figure at `path`."""
        return self.bounds.get(path[0], self.bounds.get(path[-1], (0.0, 100.0)))

    def is_unjudged(self, path: Path) -> bool:
        """Whether the figure at `path` needs no judge or reader."""
        return not self.unjudged.isdisjoint((path[0], path[-1]))
