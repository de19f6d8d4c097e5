"""CompreCap behind the interface that all benchmarks share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from caliper.benchmarks.base import (
    Described,
    Outcomes,
    PlanRequest,
    RecordKey,
    ReportLayout,
    Settings,
)
from caliper.benchmarks.comprecap import codec, examining, planning, records, reporting, scoring
from caliper.benchmarks.comprecap.compreqa import STEMS
from caliper.benchmarks.comprecap.describing import LABELS, describe, label, scores
from caliper.benchmarks.comprecap.recipes import RECIPES
from caliper.benchmarks.comprecap.settings import SETTINGS
from caliper.core.errors import UnknownName
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Outcome
from caliper.core.question import Examination, Item, Question, Source
from caliper.core.report import Generation
from caliper.core.sample import Row
from caliper.core.tally import Tally


class CompreCap:
    """The benchmark `comprecap`: coverage of a directed scene graph."""

    name = planning.NAME
    title = "CompreCap"
    role = "judge"
    settings = SETTINGS
    data = Layout(FileFormat.TABLE, ("anno",))
    captions = Layout(FileFormat.OBJECT)
    caption_prompts: tuple[str, ...] = ("simple",)
    replies = Layout(FileFormat.TABLE)
    qa_data: Layout | None = Layout(FileFormat.TABLE, tuple(STEMS))
    qa_replies: Layout | None = Layout(FileFormat.TABLE, tuple(STEMS))
    needs_language = True
    labels = LABELS
    alternatives: tuple[tuple[str, ...], ...] = ()
    recipes = RECIPES

    def plan(self, rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
        """One item a picture, then one a picture with CompreQA questions."""
        return planning.plan(rows, request)

    def group(self, item: Item) -> str:
        """Pictures count together; so do pictures with CompreQA questions."""
        return "compreqa" if item.source is Source.MEDIA else "pictures"

    def read_captions(self, rows: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
        """Captions of a JSON object `{image_name: caption}`."""
        return records.read_captions(rows)

    def caption_may_be_unused(self, sample: str) -> bool:  # noqa: ARG002 - true of none
        """Every caption belongs to a sample."""
        return False

    def caption_prompt(self, group: str, prompt: str) -> tuple[str, Mapping[str, str]]:
        """The prompt printed in the paper (4.1); CompreCap knows no other."""
        del group  # Every picture is captioned with the same words.
        if prompt not in self.caption_prompts:
            raise UnknownName("caption prompt of CompreCap", prompt, self.caption_prompts)
        return "comprecap/caption", {}

    def encode(self, question: Question[Any]) -> dict[str, Any]:
        """The payload as a JSON object."""
        return codec.encode(question.payload)

    def decode(self, written: Mapping[str, Any]) -> codec.Payload:
        """The payload that `encode` wrote."""
        return codec.decode(written)

    def examine(self, item: Item, caption: str | None, settings: Settings) -> Examination:
        """Nouns, embeddings, then the judge's scores of what the caption mentions."""
        return examining.examine(item, caption, settings)

    def generation(self, source: Source, settings: Settings, repeats: int | None) -> Generation:
        """Templates and decoding of what `examine` asks."""
        return examining.generation(source, settings, repeats)

    def recorded(self, rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
        """Recorded replies of the judge, or of the model to CompreQA."""
        return records.recorded(rows, source)

    def record_key(self, item: Item, question: Question[Any], repeat: int) -> RecordKey:
        """(picture, kind, index within the kind, repeat)."""
        return records.record_key(item, question, repeat)

    def describe(self, item: Item, question: Question[Any]) -> Described:
        """The question as people read it."""
        del item  # The payload says all.
        return describe(question.payload)

    def label(self, question: Question[Any], outcome: Outcome) -> str:
        """The word for an outcome."""
        return label(question.payload, outcome)

    def scores(self, question: Question[Any]) -> tuple[Fraction, ...]:
        """0 to 5 for a phrase, 0 and 1 for an answer; the objects of a picture are measured."""
        return scores(question.payload)

    def reduce(self, outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:
        """The tally of items with their outcomes."""
        return scoring.reduce(outcomes, settings)

    def report(self, tally: Tally, settings: Settings) -> ReportLayout:
        """The figures and tables for what the tally holds."""
        return reporting.report(tally, settings)


BENCHMARK = CompreCap()
