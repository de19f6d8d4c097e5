"""Plan items from annotated scene graphs: one per picture, and one for its CompreQA questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from caliper.benchmarks.base import PlanRequest, Settings
from caliper.benchmarks.comprecap.compreqa import plan_compreqa
from caliper.benchmarks.comprecap.drafts import TINY, AnnotatedScene, draft_questions
from caliper.benchmarks.comprecap.examination import REPEATS
from caliper.benchmarks.comprecap.masks import PICTURE_LIMIT, Mask, atoms, decode_mask
from caliper.benchmarks.comprecap.matches import distinct
from caliper.benchmarks.comprecap.questions import Atom, PhraseQuestion, SceneMeasure
from caliper.benchmarks.comprecap.settings import setting_value
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Item, Question
from caliper.core.rows import UNCOUNTED, Row, note_of

NAME = "comprecap"


@dataclass(frozen=True, slots=True)
class Instance:
    """An annotated object: its category, description, mask and the relations it is subject of."""

    category: str
    description: str
    mask: Any
    relations: tuple[str, ...]


def plan(rows: Iterable[Row], request: PlanRequest) -> Iterator[Item]:
    """Yield items in row order, then the CompreQA items.

    `request.qa_rows` are questions, or scene graphs to draw them from. A picture has the `objects`
    measure at ordinal 0, asked once, then one question per annotated instance, then one per
    relation, in annotation order. Raises InvalidInput for a picture that is missing or annotated
    twice. A broken annotation or mask makes all questions of its picture Unscored(bad_input), as
    far as the annotation still says how many there are; else the measure alone.
    """
    seen: dict[str, Row] = {}
    for row in rows:
        image = row.text("image")
        if image in seen:
            raise row.error("image", f"{image!r} is annotated twice, first in {seen[image].place}")
        seen[image] = row
        yield Item(NAME, image, image, image, (image,), _questions(row, request))
    if request.qa_rows is not None:
        yield from plan_compreqa(NAME, _compreqa_rows(request.qa_rows, request))


def _compreqa_rows(rows: Iterable[Row], request: PlanRequest) -> Iterator[Row]:
    """Yield the rows of questions; those of scene graphs become questions drawn from them.

    Raises InvalidInput for scene graphs that give no question.
    """
    scenes: list[AnnotatedScene] = []
    first: Row | None = None
    for row in rows:
        if "info" not in row.fields:
            yield row
            continue
        first = first or row
        scene = annotated_scene(row, request)
        scenes += [scene] if scene else []
    drawn = 0
    for drawn, (image, question) in enumerate(draft_questions(scenes, request.seed), start=1):
        yield Row(first.file if first else "", drawn, {"image_name": image, **asdict(question)})
    if first is not None and not drawn:
        raise first.error("info", f"no object covers less than {TINY:.0%} of its picture")


def annotated_scene(row: Row, request: PlanRequest) -> AnnotatedScene | None:
    """The scene graph in a row, to draw questions from; None if its annotation is broken."""
    measure, *phrases = _questions(row, request)
    if measure.unscored is not None:
        return None
    texts = (one.payload for one in phrases if one.payload.kind == "attribute")
    return AnnotatedScene(row.text("image"), measure.payload, tuple(text.phrase for text in texts))


def _questions(row: Row, request: PlanRequest) -> tuple[Question[Any], ...]:
    description = setting_value(request.settings, "description")
    try:
        instances = _instances(row, description)
    except InvalidInput as error:
        return _unusable(_drafts(_remains(row, description), request), error)
    questions = _drafts(instances, request)
    try:
        covered, pixels = _cover(row, instances)
    except InvalidInput as error:
        return _unusable(questions, error)
    measure = replace(questions[0].payload, atoms=covered, pixels=pixels)
    return (replace(questions[0], payload=measure), *questions[1:])


def _drafts(instances: Sequence[Instance], request: PlanRequest) -> list[Question[Any]]:
    """The questions about a picture, without what its masks say."""
    names = tuple(instance.category for instance in instances)
    phrases = enumerate(_phrases(instances, request.settings), start=1)
    repeats = request.repeats or REPEATS
    measure = SceneMeasure(distinct(names), names, (), 0)
    return [Question(0, measure), *(Question(place, each, repeats) for place, each in phrases)]


def _unusable(questions: Iterable[Question[Any]], error: InvalidInput) -> tuple[Question[Any], ...]:
    note = note_of(error)
    return tuple(replace(each, unscored=Reason.BAD_INPUT, note=note) for each in questions)


def _remains(row: Row, description: str) -> list[Instance]:
    """The instances of a broken annotation, as far as it has them, to count what is lost."""
    info = row.fields.get("info")
    entries = [] if isinstance(info, str) or not isinstance(info, Sequence) else info
    remains = []
    for number, entry in enumerate(entries, start=1):
        fields = entry if isinstance(entry, Mapping) else {}
        relations = fields.get("relation") or []
        if isinstance(relations, str) or not isinstance(relations, Sequence):
            relations = [relations]
        texts = (text if isinstance(text, str) else str(text) for text in relations)
        category, phrase = fields.get("category"), fields.get(f"{description}_description")
        remains.append(
            Instance(
                category if isinstance(category, str) and category.strip() else f"object {number}",
                phrase if isinstance(phrase, str) else "",
                None,
                tuple(text for text in texts if text.strip()),
            )
        )
    return remains


def _instances(row: Row, description: str) -> tuple[Instance, ...]:
    info = row.fields.get("info")
    if not isinstance(info, Sequence) or isinstance(info, str) or not info:
        raise row.error("info", f"expected a list of annotated objects{UNCOUNTED}")
    return tuple(_instance(row, place, entry, description) for place, entry in enumerate(info))


def _instance(row: Row, place: int, entry: Any, description: str) -> Instance:
    if not isinstance(entry, Mapping):
        raise row.error(f"info[{place}]", "expected an object")
    part = replace(row, fields={f"info[{place}].{key}": entry[key] for key in entry})
    # In the data one relation is a text, several are a list, and none is either, empty.
    relations = entry.get("relation") or []
    texts = [relations] if isinstance(relations, str) else relations
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise row.error(f"info[{place}].relation", "expected a list of texts")
    return Instance(
        _words(part, f"info[{place}].category"),
        _words(part, f"info[{place}].{description}_description"),
        entry.get("mask_out"),
        tuple(text for text in texts if text.strip()),
    )


def _words(part: Row, field: str) -> str:
    """The text in a field that, unlike an id, is never a number. Raises InvalidInput."""
    value = part.fields.get(field)
    if isinstance(value, int):
        raise part.error(field, f"expected text, found {value!r:.60}")
    return part.text(field)


def _phrases(instances: Sequence[Instance], settings: Settings) -> Iterator[PhraseQuestion]:
    for number, instance in enumerate(instances):
        yield PhraseQuestion("attribute", number, instance.description, (instance.category,))
    texts = [text for subject in instances for text in subject.relations]
    # With relations = released there may be more mentions than texts; the surplus is dropped.
    pairs = zip(texts, _mentions(instances, settings), strict=False)
    for number, (text, mentions) in enumerate(pairs):
        yield PhraseQuestion("relation", number, text, mentions)


def _mentions(instances: Sequence[Instance], settings: Settings) -> Iterator[tuple[str, ...]]:
    """Yield, per relation of the picture, the categories whose sentences it is compared with.

    `aligned` (paper 3.3): the relation's subject and the categories it names.
    `released`: the released script builds a list of sentences and a list of relations, and pairs
    them by position. For an object without relations it adds an empty sentence but no relation,
    so every later relation gets the sentence of an earlier one, or the empty one, which scores 0;
    surplus sentences at the end are dropped. Within one subject, a relation also keeps the
    sentences of the relations before it. None of this depends on the caption.

    Both rules of `released` come from the script's source. Ours, with either value: a single text
    counts as a list of one relation and a blank text as none (the script accepts only lists);
    letter case in names is ignored (the script respects it); a picture without relations is left
    out of the mean (the script stops). `relation_match` determines whether names are whole words.
    """
    released = setting_value(settings, "relations") == "released"
    matching = setting_value(settings, "relation_match")
    categories = distinct(instance.category for instance in instances)
    for subject in instances:
        if released and not subject.relations:
            yield ()
        context = [subject.category]
        for text in subject.relations:
            named = [name for name in categories if _names(text, name, matching)]
            yield distinct((*context, *named))
            if released:
                context += named


def _names(relation: str, category: str, matching: str) -> bool:
    """Whether the relation's text names the category, as a whole word or as any substring.

    Letter case is ignored. The released script searches for a substring.
    """
    if matching == "substring":
        return category.casefold() in relation.casefold()
    return bool(re.search(rf"(?<!\w){re.escape(category)}(?!\w)", relation, re.IGNORECASE))


def _cover(row: Row, instances: Sequence[Instance]) -> tuple[tuple[Atom, ...], int]:
    """Return the atoms of the picture's masks, and the masks' common size in pixels."""
    masks: list[Mask] = []
    for place, instance in enumerate(instances):
        field = f"info[{place}].mask_out"
        mask = _mask(row, field, instance)
        if masks and mask.size != masks[0].size:
            message = f"this mask has {mask.size} pixels, the picture's first has {masks[0].size}"
            raise row.error(field, message)
        masks.append(mask)
        if len(instances) * mask.size > PICTURE_LIMIT:
            together = f"{len(instances)} masks of {mask.size} pixels"
            raise row.error("info", f"{together} are more than {PICTURE_LIMIT} pixels")
    try:
        covered = atoms(masks)
    except ValueError as error:
        raise row.error("info", str(error)) from error
    if not covered:
        raise row.error("info", "no mask of the picture covers a pixel")
    return covered, masks[0].size


def _mask(row: Row, field: str, instance: Instance) -> Mask:
    if not isinstance(instance.mask, str):
        raise row.error(field, "expected a mask: base64 of a zlib stream of H*W bytes")
    try:
        return decode_mask(instance.mask)
    except ValueError as error:
        raise row.error(field, f"this mask cannot be read: {error}") from error
