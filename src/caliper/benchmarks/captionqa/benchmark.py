"""The declaration of CaptionQA: multiple choice, answered by a reader from the caption alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from caliper.benchmarks.base import Better, CheckQuestion, PlanRequest, Settings, is_file_name
from caliper.benchmarks.benchmark import Benchmark, dimension
from caliper.benchmarks.captionqa import examination as examining
from caliper.benchmarks.captionqa import options, planning, questions, reporting, rows, scoring
from caliper.benchmarks.captionqa.domains import TITLES
from caliper.benchmarks.captionqa.recipes import RECIPES
from caliper.benchmarks.captionqa.settings import SETTINGS
from caliper.core.layout import FileFormat, Layout
from caliper.core.question import Answer, Ask
from caliper.core.report import Path
from caliper.core.rows import Row
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.benchmarks.captionqa import rules
else:
    rules = lazy_module("caliper.benchmarks.captionqa.rules")


def _dimension(path: Path) -> str | None:
    match path:
        case ("qa_on_image", domain, _):
            return f"qa_on_image/{domain}"
        case _:
            return dimension(path, "domains")


def _looks_like(suffix: str, first: Any) -> str | None:
    if suffix == ".parquet" or (isinstance(first, Mapping) and first.keys() & _QUESTIONS):
        return "data"
    return "captions" if isinstance(first, str) and not is_file_name(first) else None


_QUESTIONS = {"questions", "question"}


def _check_question(entry: Mapping[str, Any], settings: Settings) -> CheckQuestion:
    """Plan a check question {id, domain, question, choices, answer}."""
    question = {name: entry[name] for name in ("question", "choices", "answer")}
    fields = {
        "id": entry["id"],
        "images": [entry["id"]],
        "domain": entry["domain"],
        "questions": [{**question, "category": ["Written - Written"]}],
    }
    request = PlanRequest(settings, captions=frozenset((entry["id"],)))
    (item,) = planning.plan([Row("captionqa.jsonl", 1, fields)], request)
    shown = item.questions[-1].payload.options
    letter = options.label(shown.index(entry["answer"]))
    return CheckQuestion(item, "choice", {"letter": letter})


def _reply_to(ask: Ask) -> Answer:
    return rules.reply_to(ask)


BENCHMARK = Benchmark(
    name=planning.NAME,
    title="CaptionQA",
    description="""CaptionQA: multiple-choice questions, answered from the caption alone.

--data is a parquet, JSON or JSON Lines file (or a folder of them), --captions a JSON object
from id to text.
""",
    role="reader",
    data=Layout(FileFormat.TABLE),
    plan=planning.plan,
    encode=questions.encode,
    decode=questions.decode,
    examine=examining.examine,
    generation=examining.generation,
    describe=reporting.describe,
    reduce=scoring.reduce,
    report=reporting.report,
    words=TITLES,
    settings=SETTINGS,
    better={
        **dict.fromkeys(("score", "accuracy"), Better.MORE),
        # Questions that the caption does not answer (paper 3.4).
        **dict.fromkeys(("cannot", "cannot_of_all"), Better.LESS),
        # Information lost between picture and caption (paper 5).
        "utility_gap": Better.LESS,
    },
    bounds={"utility_gap": (-100.0, 100.0)},
    unjudged=frozenset({"qa_on_image"}),
    dimension=_dimension,
    group=lambda item: item.questions[0].payload.domain,
    pools=reporting.pools,
    is_divisible=True,
    labels=scoring.LABELS,
    label=lambda _, outcome: scoring.label(outcome),
    scores=lambda question: scoring.scores(question.payload),
    replies=Layout(FileFormat.OBJECT_FOLDER),
    samples=rows.read_samples,
    read_replies=rows.read_replies,
    record_key=rows.record_key,
    # The same questions are asked about the image: there is no separate file.
    qa_replies=Layout(FileFormat.OBJECT_FOLDER),
    caption_prompts=examining.CAPTION_PROMPTS,
    caption_template=examining.caption_template,
    rules=_reply_to,
    recipes=RECIPES,
    recognize=_looks_like,
    check_question=_check_question,
)
