"""The declaration of CAPability: 13 tasks, each judged for correctness and thoroughness
(arXiv 2502.14914).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from caliper.benchmarks.base import (
    Better,
    CheckQuestion,
    PlanRequest,
    QuestionText,
    RecordKey,
    Settings,
)
from caliper.benchmarks.benchmark import Benchmark, dimension
from caliper.benchmarks.capability import examination as examining
from caliper.benchmarks.capability import planning, questions, reporting, rows, scoring
from caliper.benchmarks.capability.lexical_agreement import agreement
from caliper.benchmarks.capability.questions import MediaQuestion
from caliper.benchmarks.capability.recipes import RECIPES
from caliper.benchmarks.capability.settings import SETTINGS
from caliper.benchmarks.capability.tasks import ALTERNATIVES, NAMES, TASKS, Form
from caliper.core.errors import UnknownName
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Answer, Ask, Item, Question
from caliper.core.rows import Row
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.benchmarks.capability import rules
else:
    rules = lazy_module("caliper.benchmarks.capability.rules")

_FOLDER = Layout(FileFormat.JSONL_FOLDER, NAMES)
_CAPTION_LABELS = {1: "correct", -1: "wrong", 0: "not mentioned"}
_MEDIA_LABELS = {1: "correct", 0: "wrong"}


def _caption_template(group: str, prompt: str) -> tuple[str, Mapping[str, str]]:
    """Return the image or video prompt of Fig. A2, by the task's media."""
    del prompt  # There is one prompt per medium.
    if group not in TASKS:
        raise UnknownName("task", group, NAMES)
    return f"capability/caption_{TASKS[group].media}", {}


def _record_key(item: Item, question: Question[Any], repeat: int) -> RecordKey:
    """Return (task, file_id, ordinal), or (qa, task, question_id) for media."""
    del repeat  # Recorded replies have no repeats: all repeats share one reply.
    payload = question.payload
    if isinstance(payload, MediaQuestion):
        return ("qa", payload.task, payload.question_id)
    task, file_id = item.key.split("/", 1)
    return (task, file_id, str(question.ordinal))


def _describe(item: Item, question: Question[Any]) -> QuestionText:
    """Return the task, the question, and the annotation."""
    del item
    payload = question.payload
    if isinstance(payload, MediaQuestion):
        text = " ".join((payload.question, *payload.options))
        return QuestionText(payload.task, text, payload.answer)
    text = TASKS[payload.task].question.replace("{object}", payload.object)
    return QuestionText(payload.task, text, payload.element)


def _labels(question: Question[Any]) -> Mapping[int, str]:
    return _MEDIA_LABELS if isinstance(question.payload, MediaQuestion) else _CAPTION_LABELS


def _label(question: Question[Any], outcome: Outcome) -> str:
    return _labels(question)[int(outcome.score)] if isinstance(outcome, Scored) else "unscored"


def _many_labels(question: Question[Any]) -> int | None:
    """Return two thirds of a task's categories (ours): honest captions state up to 4 of 7."""
    categories = len(TASKS[question.payload.task].categories)
    return ceil(categories * 2 / 3) or None


def _looks_like(suffix: str, first: Any) -> str | None:
    del suffix
    if isinstance(first, Mapping):
        return next((kind for key, kind in _SIGNS.items() if key in first), None)
    return None


_SIGNS = {"annotation": "data", "caption": "captions"}


def _check_question(entry: Mapping[str, Any], settings: Settings) -> CheckQuestion:
    """Plan a check question {id, task, annotation}."""
    fields = {
        "task": entry["task"],
        "file_id": entry["id"],
        "file_path": entry["id"],
        "annotation": entry["annotation"],
    }
    row = Row(f"{entry['task']}.jsonl", 1, fields)
    (item,) = planning.plan([row], PlanRequest(settings, captions=frozenset((entry["id"],))))
    category = TASKS[entry["task"]].form is Form.CATEGORY
    return CheckQuestion(item, "labels" if category else "open")


def _reply_to(ask: Ask) -> Answer:
    return rules.reply_to(ask)


BENCHMARK = Benchmark(
    name=planning.NAME,
    title="CAPability",
    description="""CAPability: 13 tasks, judged for correctness and thoroughness.

--data is a folder with one JSON Lines file a task, --captions a folder of the same kind with
rows of file_id and caption.
""",
    role="judge",
    data=_FOLDER,
    captions=_FOLDER,
    plan=planning.plan,
    read_captions=rows.read_captions,
    encode=questions.encode,
    decode=questions.decode,
    examine=examining.examine,
    generation=examining.generation,
    describe=_describe,
    reduce=scoring.reduce,
    report=reporting.report,
    words={"kt": "KT"},
    settings=SETTINGS,
    better={
        **dict.fromkeys(("precision", "recall", "f1", "hit_rate", "qa_accuracy"), Better.MORE),
        "f1_one": Better.MORE,
        # Known but not mentioned (equation 4).
        "kt_bar": Better.LESS,
        **dict.fromkeys(("labels", "qa_n_scored", "qa_n_unscored"), Better.NEITHER),
    },
    unjudged=frozenset({"qa_accuracy"}),
    dimension=partial(dimension, group="tasks"),
    group=lambda item: item.key.removeprefix("qa/").split("/", 1)[0],
    is_divisible=True,
    labels=(*_CAPTION_LABELS.values(), "unscored"),
    label=_label,
    scores=lambda question: tuple(map(Fraction, sorted(_labels(question)))),
    replies=_FOLDER,
    read_replies=rows.read_replies,
    record_key=_record_key,
    qa_data=_FOLDER,
    qa_replies=_FOLDER,
    caption_template=_caption_template,
    # The action file may contain the captions of all event videos (README).
    unused_caption=lambda sample: sample.startswith("action/"),
    alternatives=ALTERNATIVES,
    many_labels=_many_labels,
    rules=_reply_to,
    lexical_agreement=agreement,
    recipes=RECIPES,
    recognize=_looks_like,
    check_question=_check_question,
)
