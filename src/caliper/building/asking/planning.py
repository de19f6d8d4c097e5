"""Planning the questions of a model step. All are asked through the captioner, as questions about
the media; text steps show none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.captionqa.options import question_permutation
from caliper.building.asking.questions import TEXT_STEPS, ModelStep, StepQuestion
from caliper.building.candidates import candidate_of
from caliper.core.errors import UnknownName
from caliper.core.question import Item, Question, Source
from caliper.core.rows import Row

NAME = "building"
MOST_QUESTIONS, MOST_ELEMENTS, MOST_VOTES = 10, 50, 100


def plan(rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
    """One item per picture to write about, or per candidate to answer; the latter share the
    picture's job. Raises InvalidInput naming file, line and field.
    """
    seen: set[str] = set()
    for row in rows:
        step = row.fields.get("step")
        if step not in tuple(ModelStep):
            error = UnknownName("step", f"{step!r:.60}", tuple(ModelStep))
            raise row.error("step", str(error))
        answers = step in (ModelStep.BLIND, ModelStep.VALIDATE)
        item = _answering(row, request.seed) if answers else _writing(row)
        if item.key in seen:
            raise row.error("id", f"{item.key!r:.60} appears twice")
        seen.add(item.key)
        yield item


def _writing(row: Row) -> Item:
    image, categories = row.text("image"), row.fields.get("categories")
    if not isinstance(categories, list | tuple) or not categories:
        raise row.error("categories", f"expected a list of texts, found {categories!r:.60}")
    texts = row.fields.get("texts", [""] * len(categories))
    if not isinstance(texts, list | tuple) or len(texts) != len(categories):
        raise row.error("texts", f"expected one text per category, found {texts!r:.60}")
    step = ModelStep(row.fields["step"])
    limit = MOST_QUESTIONS if step == ModelStep.WRITE else MOST_ELEMENTS
    most = _number(row, "most", limit)
    questions = tuple(
        Question(ordinal, StepQuestion(step, str(category), most, str(text)))
        for ordinal, (category, text) in enumerate(zip(categories, texts, strict=True))
    )
    media = () if step in TEXT_STEPS else (image,)
    return Item(NAME, image, image, image, media, questions, Source.MEDIA)


def _answering(row: Row, seed: int) -> Item:
    step, candidate = ModelStep(row.fields["step"]), candidate_of(row)
    questions = tuple(
        Question(
            ordinal,
            StepQuestion(
                step=step,
                category=candidate.category,
                question=candidate.question,
                choices=candidate.choices,
                answer=candidate.answer,
                permutation=question_permutation(
                    seed, candidate.id, ordinal, len(candidate.choices)
                ),
            ),
        )
        for ordinal in range(_number(row, "votes", MOST_VOTES))
    )
    blind = step == ModelStep.BLIND
    return Item(
        benchmark=NAME,
        key=candidate.id,
        sample=candidate.id if blind else candidate.image,
        cluster=candidate.image,
        media=() if blind else (candidate.image,),
        questions=questions,
        source=Source.MEDIA,
    )


def _number(row: Row, name: str, most: int) -> int:
    number = row.fields.get(name)
    if not isinstance(number, int) or not 1 <= number <= most:
        raise row.error(name, f"expected a number from 1 to {most}, found {number!r:.60}")
    return number
