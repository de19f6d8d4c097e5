"""CAPability behind the interface that the rest of the house knows."""

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
from caliper.benchmarks.capability import encoding, examining, planning, reducing, reporting, rows
from caliper.benchmarks.capability.choices import SETTINGS
from caliper.benchmarks.capability.payloads import MediaQuestion
from caliper.benchmarks.capability.recipes import RECIPES
from caliper.benchmarks.capability.tasks import ALTERNATIVES, NAMES, TASKS
from caliper.core.errors import UnknownName
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Examination, Item, Question, Source
from caliper.core.report import Generation
from caliper.core.sample import Row
from caliper.core.tally import Tally

_FOLDER = Layout(FileFormat.JSONL_FOLDER, NAMES)
_CAPTION_LABELS = {1: "correct", -1: "wrong", 0: "not mentioned"}
_MEDIA_LABELS = {1: "correct", 0: "wrong"}


class Capability:
    """13 tasks, each judged for correctness and thoroughness (arXiv 2502.14914)."""

    name = planning.NAME
    title = "CAPability"
    role = "judge"
    settings = SETTINGS
    data = _FOLDER
    captions = _FOLDER
    caption_prompts: tuple[str, ...] = ("simple",)
    replies = _FOLDER
    qa_data: Layout | None = _FOLDER
    qa_replies: Layout | None = _FOLDER
    needs_language = False
    labels = (*_CAPTION_LABELS.values(), "unscored")
    alternatives = ALTERNATIVES
    recipes = RECIPES

    def plan(self, rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
        """Items about captions, then about media. Raises InvalidInput for a broken file."""
        return planning.plan(rows, request)

    def group(self, item: Item) -> str:
        """The task, for captions and media alike."""
        return item.key.removeprefix("qa/").split("/", 1)[0]

    def read_captions(self, captions: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
        """(`task/file_id`, text) of {file_id, caption} rows. Raises InvalidInput."""
        return rows.read_captions(captions)

    def caption_may_be_unused(self, sample: str) -> bool:
        """True for actions: their file may hold the captions of all event videos (README)."""
        return sample.startswith("action/")

    def caption_prompt(self, group: str, prompt: str) -> tuple[str, Mapping[str, str]]:
        """The image or the video prompt of Fig. A2, by the task's media.

        There is one prompt a medium: any name but `simple` raises UnknownName, and so does a
        group that is no task.
        """
        if group not in TASKS:
            raise UnknownName("task", group, NAMES)
        if prompt not in self.caption_prompts:
            raise UnknownName("caption prompt of capability", prompt, self.caption_prompts)
        return f"capability/caption_{TASKS[group].media}", {}

    def encode(self, question: Question[Any]) -> dict[str, Any]:
        """The payload as a JSON object with its schema number."""
        return encoding.encode(question.payload)

    def decode(self, written: Mapping[str, Any]) -> encoding.Payload:
        """The payload that `encode` wrote. Raises NewerSchema or InvalidInput."""
        return encoding.decode(written)

    def examine(self, item: Item, caption: str | None, settings: Settings) -> Examination:
        """One call a question and repeat; none without a caption or a usable annotation."""
        return examining.examine(item, caption, settings)

    def generation(self, source: Source, settings: Settings, repeats: int | None) -> Generation:
        """Templates and decoding of what `examine` asks."""
        return examining.generation(source, settings, repeats)

    def recorded(self, replies: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
        """Recorded replies by key. Raises InvalidInput for a broken file."""
        return rows.recorded(replies, source)

    def record_key(self, item: Item, question: Question[Any], repeat: int) -> RecordKey:  # noqa: ARG002 - recorded replies have no repeats: each repeat gets the same one
        """(task, file_id, ordinal), or (qa, task, question_id) for media."""
        payload = question.payload
        if isinstance(payload, MediaQuestion):
            return ("qa", payload.task, payload.question_id)
        task, file_id = item.key.split("/", 1)
        return (task, file_id, str(question.ordinal))

    def describe(self, item: Item, question: Question[Any]) -> Described:  # noqa: ARG002 - the payload says it all
        """The task, what is asked, and what is annotated."""
        payload = question.payload
        if isinstance(payload, MediaQuestion):
            asked = " ".join((payload.question, *payload.options))
            return Described(payload.task, asked, payload.answer)
        asked = TASKS[payload.task].asks.replace("{object}", payload.object)
        return Described(payload.task, asked, payload.element)

    def label(self, question: Question[Any], outcome: Outcome) -> str:
        """correct, wrong, not mentioned, or unscored."""
        if not isinstance(outcome, Scored):
            return "unscored"
        media = isinstance(question.payload, MediaQuestion)
        return (_MEDIA_LABELS if media else _CAPTION_LABELS)[int(outcome.score)]

    def scores(self, question: Question[Any]) -> tuple[Fraction, ...]:
        """-1, 0 and 1 about a caption; 0 and 1 for an answer about the media."""
        media = isinstance(question.payload, MediaQuestion)
        return tuple(map(Fraction, sorted(_MEDIA_LABELS if media else _CAPTION_LABELS)))

    def reduce(self, outcomes: Iterable[tuple[Item, Outcomes]], settings: Settings) -> Tally:  # noqa: ARG002 - the choices act when replies are read
        """Sums per task and repeat."""
        return reducing.reduce(outcomes)

    def report(self, tally: Tally, settings: Settings) -> ReportLayout:
        """The columns of the paper's tables and their plain mean."""
        return reporting.report(tally, settings)


BENCHMARK = Capability()
