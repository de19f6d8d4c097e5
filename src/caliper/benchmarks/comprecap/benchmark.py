"""The declaration of CompreCap: coverage of a directed scene graph."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from caliper.benchmarks.base import Better, CheckQuestion, Settings, is_file_name
from caliper.benchmarks.benchmark import Benchmark
from caliper.benchmarks.comprecap import examination as examining
from caliper.benchmarks.comprecap import planning, questions, reporting, rows, scoring
from caliper.benchmarks.comprecap.compreqa import STEMS
from caliper.benchmarks.comprecap.questions import Atom, PhraseQuestion, SceneMeasure
from caliper.benchmarks.comprecap.recipes import RECIPES
from caliper.benchmarks.comprecap.settings import SETTINGS
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import Outcome, Scored
from caliper.core.question import Answer, Ask, Item, Question, Source
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.benchmarks.comprecap import rules
else:
    rules = lazy_module("caliper.benchmarks.comprecap.rules")

_BANDS = ("none", "none", "part", "part", "full", "full")
"""Labels of a judge's scores 0 to 5: a difference of one point is often not a new verdict."""


def _looks_like(suffix: str, first: Any) -> str | None:
    del suffix
    if isinstance(first, Mapping):
        return "data" if "info" in first else None
    return "captions" if is_file_name(first) else None


def _check_question(entry: Mapping[str, Any], settings: Settings) -> CheckQuestion:
    """Plan a check question {id, phrase, things} about a one-pixel picture of the first thing."""
    del settings
    things = tuple(entry["things"])
    measure = SceneMeasure(things, things, (Atom((0,), 1),), 1)
    phrase = PhraseQuestion("attribute", 0, entry["phrase"], things)
    key = entry["id"]
    questions: tuple[Question[Any], ...] = (Question(0, measure), Question(1, phrase))
    item = Item(planning.NAME, key, key, key, (key,), questions)
    # A wrong caption may contain a part of the phrase.
    return CheckQuestion(item, "scale", {"thing": things[0]}, good_score=Fraction(4))


def _anchor_label(question: Question[Any], outcome: Outcome) -> str:
    if not isinstance(outcome, Scored):
        return questions.label(question, outcome)
    # With `reading: released`, scores may be any number.
    return _BANDS[min(max(int(outcome.score), 0), len(_BANDS) - 1)]


def _reply_to(ask: Ask) -> Answer:
    return rules.reply_to(ask)


BENCHMARK = Benchmark(
    name=planning.NAME,
    title="CompreCap",
    description="""CompreCap: coverage of objects, attributes and relations of a scene graph.

--data is anno.json with masks, --captions a JSON object from image name to text.
""",
    role="judge",
    data=Layout(FileFormat.TABLE, ("anno",)),
    plan=planning.plan,
    encode=questions.encode,
    decode=questions.decode,
    examine=examining.examine,
    generation=examining.generation,
    describe=questions.describe,
    reduce=scoring.reduce,
    report=reporting.report,
    words={"compreqa": "CompreQA"},
    settings=SETTINGS,
    better={
        **dict.fromkeys(
            ("s_object", "s_attribute", "s_relation", "s_cov", "s_unified"), Better.MORE
        ),
        "compreqa": Better.MORE,
        "repeats": Better.NEITHER,
    },
    bounds=dict.fromkeys(("s_attribute", "s_relation"), (0.0, float(questions.HIGHEST))),
    unjudged=frozenset({"s_object", "compreqa"}),
    group=lambda item: "compreqa" if item.source is Source.MEDIA else "pictures",
    labels=questions.LABELS,
    label=questions.label,
    scores=lambda question: questions.scores(question.payload),
    samples=rows.read_samples,
    read_replies=rows.read_replies,
    record_key=rows.record_key,
    qa_data=Layout(FileFormat.TABLE, tuple(STEMS)),
    qa_replies=Layout(FileFormat.TABLE, tuple(STEMS)),
    needs_language=True,
    rules=_reply_to,
    recipes=RECIPES,
    recognize=_looks_like,
    check_question=_check_question,
    anchor_label=_anchor_label,
)
