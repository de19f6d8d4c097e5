"""Plan items from samples: ground truth, cannot option, order of options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.captionqa import options
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.captionqa.rows import Entry, QuestionFields, RawSample, gather, read_entry
from caliper.benchmarks.captionqa.settings import chosen
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Item, Question, Source
from caliper.core.rows import Row, note_of

NAME = "captionqa"
MEDIA_PREFIX = "qa/"

# Draws the permutation of (item, ordinal, number of options).
Draw = Callable[[str, int, int], options.Permutation]


def plan(rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
    """Yield items in dataset order.

    If questions about the media are requested, each item is followed by one that asks the same
    questions, with the same option order, about the picture (paper 5).

    Raises InvalidInput for a broken file, and for `shuffle: released` without supplied captions.
    """
    draw = _draw(request)
    rule = options.YES_NO_RULES[chosen(request.settings, "yes_no")]
    for sample in gather(rows):
        item = _item(sample, request, rule, draw)
        yield item
        if request.qa_rows is not None:
            yield _on_media(item)


def _draw(request: PlanRequest) -> Draw:
    def for_question(item: str, ordinal: int, size: int) -> options.Permutation:
        return options.question_permutation(request.seed, item, ordinal, size)

    if chosen(request.settings, "shuffle") == "question":
        return for_question
    if request.captions is None:
        raise InvalidInput(
            "released depends on which captions exist: supply captions, or use shuffle=question",
            field="shuffle",
        )
    captions, generator = request.captions, options.released_generator()

    def released(item: str, ordinal: int, size: int) -> options.Permutation:
        # The released script skips samples without a caption and does not advance its
        # generator for them. For questions about their pictures the order is Caliper's.
        if item not in captions:
            return for_question(item, ordinal, size)
        return options.shuffle(generator, size)

    return released


def _item(sample: RawSample, request: PlanRequest, rule: options.YesNoRule, draw: Draw) -> Item:
    questions = []
    for ordinal, entry in enumerate(sample.entries):
        question = _question(sample, ordinal, entry, rule, draw)
        questions.append(replace(question, repeats=request.repeats or 1))
    return Item(
        benchmark=NAME,
        key=sample.id,
        sample=sample.id,
        cluster=sample.media[0] if sample.media else sample.id,
        media=sample.media,
        questions=tuple(questions),
    )


def _question(
    sample: RawSample, ordinal: int, entry: Entry, rule: options.YesNoRule, draw: Draw
) -> Question[ChoiceQuestion]:
    try:
        fields = read_entry(entry)
    except InvalidInput as error:
        empty = ChoiceQuestion(sample.domain, "", "", (), -1, has_cannot=False, permutation=())
        return Question(ordinal, empty, unscored=Reason.BAD_INPUT, note=note_of(error))
    answer = ground_truth(fields)
    has_cannot = not rule(fields.question, fields.choices)
    size = len(fields.choices) + has_cannot
    fault = _fault(fields, answer)
    payload = ChoiceQuestion(
        domain=sample.domain,
        category=fields.category,
        question=fields.question,
        choices=fields.choices,
        answer=-1 if fault else answer,
        has_cannot=has_cannot,
        permutation=tuple(range(size)) if fault else draw(sample.id, ordinal, size),
    )
    if not fault:
        return Question(ordinal, payload)
    name, message = fault
    note = note_of(entry.row.error(entry.field(name), message))
    return Question(ordinal, payload, unscored=Reason.BAD_GROUND_TRUTH, note=note)


def ground_truth(fields: QuestionFields) -> int:
    """Return the index of the first choice equal to the answer after trimming; -1 if none."""
    answer = fields.answer.strip()
    trimmed = [choice.strip() for choice in fields.choices]
    return trimmed.index(answer) if answer in trimmed else -1


def _fault(fields: QuestionFields, answer: int) -> tuple[str, str] | None:
    """Return the field and fault of a question that cannot be scored; None if it can."""
    if len(fields.choices) < 2:
        return "choices", f"expected at least 2 choices, found {len(fields.choices)}"
    if answer < 0:
        return "answer", f"{fields.answer!r:.60} is none of the choices"
    return None


def _on_media(item: Item) -> Item:
    questions = item.questions
    if not item.media:
        note = f"the sample {item.sample} names no picture"
        questions = tuple(
            question
            if question.unscored
            else replace(question, unscored=Reason.MEDIA_MISSING, note=note)
            for question in questions
        )
    key = MEDIA_PREFIX + item.key
    return replace(item, key=key, questions=questions, source=Source.MEDIA)
