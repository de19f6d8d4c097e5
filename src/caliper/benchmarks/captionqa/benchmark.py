"""CaptionQA behind the interface that all benchmarks share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from caliper.benchmarks.base import (
    Benchmark,
    Described,
    Outcomes,
    PlanRequest,
    RecordKey,
    ReportLayout,
    Settings,
)
from caliper.benchmarks.captionqa import (
    codec,
    examining,
    planning,
    prompting,
    reporting,
    scoring,
    supplied,
)
from caliper.benchmarks.captionqa.recipes import RECIPES
from caliper.benchmarks.captionqa.settings import SETTINGS
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Outcome
from caliper.core.question import Examination, Item, Question, Source
from caliper.core.report import Generation
from caliper.core.sample import Row
from caliper.core.tally import Tally


class CaptionQA:
    """Multiple-choice questions that a reader answers from the caption alone."""

    name = planning.NAME
    title = "CaptionQA"
    role = "reader"
    settings = SETTINGS
    data = Layout(FileFormat.TABLE)
    captions = Layout(FileFormat.OBJECT)
    caption_prompts: tuple[str, ...] = prompting.CAPTION_PROMPTS
    replies = Layout(FileFormat.OBJECT_FOLDER)
    # Its own questions are asked on the image: there is no other file of them.
    qa_data: Layout | None = None
    qa_replies: Layout | None = Layout(FileFormat.OBJECT_FOLDER)
    needs_language = False
    labels = scoring.LABELS
    alternatives: tuple[tuple[str, ...], ...] = ()
    recipes = RECIPES

    def plan(self, rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
        """Items in the order of the dataset, each followed by its copy on the image if asked."""
        return planning.plan(rows, request)

    def group(self, item: Item) -> str:
        """The domain."""
        domain: str = item.questions[0].payload.domain
        return domain

    def read_captions(self, rows: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
        """(id, text) of `{id: text}`."""
        return supplied.read_captions(rows)

    def caption_may_be_unused(self, sample: str) -> bool:  # noqa: ARG002 - true of none
        """Every caption belongs to a sample."""
        return False

    def caption_prompt(self, group: str, prompt: str) -> tuple[str, Mapping[str, str]]:
        """The template and fields of one of the four caption prompts (paper 3.3)."""
        return prompting.caption_prompt(group, prompt)

    def encode(self, question: Question[Any]) -> dict[str, Any]:
        """The payload as a JSON object."""
        return codec.encode(question.payload)

    def decode(self, written: Mapping[str, Any]) -> Any:
        """The payload that `encode` wrote."""
        return codec.decode(written)

    def examine(self, item: Item, caption: str | None, settings: Settings) -> Examination:
        """Ask the reader for a letter a question."""
        return examining.examine(item, caption, settings)

    def generation(self, source: Source, settings: Settings, repeats: int | None) -> Generation:
        """Templates and decoding of what `examine` asks."""
        return prompting.generation(source, settings, repeats)

    def recorded(
        self,
        rows: Iterable[Row],
        source: Source,  # noqa: ARG002 - replies about captions and images have one format
    ) -> Iterator[tuple[RecordKey, str]]:
        """Replies as the released script records them, by `record_key`."""
        return supplied.recorded(rows)

    def record_key(
        self,
        item: Item,
        question: Question[Any],
        repeat: int,  # noqa: ARG002 - a recording knows no repeats and answers each of them
    ) -> RecordKey:
        """Sample, question text, and its place among equal texts."""
        return supplied.record_key(item, question)

    def describe(self, item: Item, question: Question[Any]) -> Described:
        """The question and the right choice; the dimension is the domain."""
        return reporting.describe(item, question)

    def label(
        self,
        question: Question[Any],  # noqa: ARG002 - the score alone tells
        outcome: Outcome,
    ) -> str:
        """correct, cannot answer, wrong or unscored."""
        return scoring.label(outcome)

    def scores(self, question: Question[Any]) -> tuple[Fraction, ...]:
        """Wrong, right, and what "cannot answer" earns where it is offered."""
        return scoring.scores(question.payload)

    def reduce(
        self,
        outcomes: Iterable[tuple[Item, Outcomes]],
        settings: Settings,  # noqa: ARG002 - no setting changes the sums
    ) -> Tally:
        """Sums per domain, top category and full category, and per domain on the image."""
        return reporting.reduce(outcomes)

    def report(self, tally: Tally, settings: Settings) -> ReportLayout:
        """Figures per domain, category and overall, and tables of them."""
        return reporting.report(tally, settings)


BENCHMARK: Benchmark = CaptionQA()
