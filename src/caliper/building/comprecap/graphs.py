"""Scene graphs for CompreCap: edits of descriptions and relations, and the files that are evaluated
(docs/data.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.captionqa.options import question_permutation
from caliper.benchmarks.comprecap.drafts import draft_questions, with_options
from caliper.benchmarks.comprecap.planning import annotated_scene
from caliper.benchmarks.comprecap.questions import CompreQaQuestion
from caliper.benchmarks.comprecap.reading import options
from caliper.building.candidates import LONGEST_TEXT, Candidate, CandidateDecision, spelling_key
from caliper.building.comprecap.relations import ends_of, has_end, names_category
from caliper.building.comprecap.scenes import ENDS, OBJECT, QUESTION, RELATION, object_category
from caliper.building.kinds import CandidateEdit
from caliper.building.steps import Fate
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row

SCENES = "scenes.jsonl"
"""The file of a build directory with the masks of all objects."""
DESCRIPTIONS = 3
"""Descriptions of a CompreQA-Cap question, one of which is right (paper 3.2)."""


def heading(candidate: Candidate) -> str:
    """The heading above a candidate, for reviewers."""
    return question_text(candidate) if candidate.choices else candidate.question


def question_text(candidate: Candidate) -> str:
    """The words of a CompreQA-Cap question."""
    category = object_category(candidate.question)
    return f"Which description best fits the '{category}' in the image?"


def outline_key(candidate: Candidate) -> str:
    """The picture and the names of the objects to outline, for `OutlinedPictures`."""
    return "\n".join((candidate.image, *filter(None, candidate.question.split(ENDS))))


def editable(candidate: Candidate) -> tuple[str, ...]:
    """The fields that people may edit: not objects, nor the ends of relations."""
    return ("choices", "answer") if candidate.choices else ("answer",)


def edit_graph(candidate: Candidate, edit: CandidateEdit) -> Candidate:
    """The candidate with other texts, under its id. Raises InvalidInput if they break a rule."""
    lines = [" ".join(line.split()) for line in edit.answer.splitlines() if line.strip()]
    if max(map(len, (edit.answer, *edit.choices))) > LONGEST_TEXT:
        raise InvalidInput(f"a text is longer than {LONGEST_TEXT:,} characters")
    most = 2 if candidate.category == OBJECT else 1
    if not 0 < len(lines) <= most:
        message = "expected one line"
        if candidate.category == OBJECT:
            message = "expected a short description, and in a second line a full one, or none"
        raise InvalidInput(message)
    changed = replace(candidate, choices=edit.choices, answer="\n".join(lines))
    if candidate.category == RELATION:
        end = object_category(ends_of(candidate)[1])
        if not names_category(changed.answer, end):
            raise InvalidInput(f"the text does not name the {end}")
    if candidate.category == QUESTION and (fault := question_fault(changed)):
        raise InvalidInput(fault)
    return changed


def question_fault(candidate: Candidate) -> str:
    """Why a CompreQA-Cap question cannot be asked; empty if it can."""
    choices = candidate.choices
    if len(choices) != DESCRIPTIONS:
        return f"expected {DESCRIPTIONS} descriptions"
    if len(set(map(spelling_key, choices))) < len(choices):
        return "equal descriptions"
    if candidate.answer not in choices:
        return "the right description is not among them"
    if len(options(_compreqa(candidate).question)) != DESCRIPTIONS:
        return "a description looks like several options"
    return ""


def compose_question(written: Candidate, right: str, seed: int, model: str) -> Fate:
    """The question with the wrong descriptions that a model wrote, and the right one, shuffled."""
    shown = (right, *written.choices)
    order = question_permutation(seed, written.id, 0, len(shown))
    choices = [shown[place] for place in order]
    candidate = Candidate.of(written.image, written.question, choices, right, QUESTION)
    reasons = (f"wrong descriptions written by {model}",)
    return Fate(candidate, question_fault(candidate), right, CandidateDecision.REVIEW, reasons)


def _compreqa(candidate: Candidate) -> CompreQaQuestion:
    place = candidate.choices.index(candidate.answer)
    category = object_category(candidate.question)
    return with_options("cap", category, question_text(candidate), candidate.choices, place)


def files(candidates: Sequence[Candidate], build: Mapping[str, Any]) -> dict[str, str]:
    """anno.json, and the CompreQA questions in compreqa/, with a line per row, so that versions of
    a dataset can be compared.
    """
    rows = scene_rows(candidates, build["inputs"])
    questions_by_kind = compreqa_rows(candidates, rows, build["settings"]["seed"])
    questions = {
        f"compreqa/compreqa_{kind}.jsonl": "".join(f"{line}\n" for line in _lines(own))
        for kind, own in questions_by_kind.items()
        if own
    }
    return {"anno.json": "[\n" + ",\n".join(_lines(rows)) + "\n]\n", **questions}


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [json.dumps(row, ensure_ascii=False) for row in rows]


def scene_rows(
    candidates: Sequence[Candidate], scenes: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """One row per picture, in the official layout. `scenes` are the rows of `SCENES`."""
    described = {
        (each.image, each.question): each.answer for each in candidates if each.category == OBJECT
    }
    relations: dict[tuple[str, str], list[str]] = {}
    for each in standing_relations(candidates):
        relations.setdefault((each.image, ends_of(each)[0]), []).append(each.answer)
    rows = []
    for scene in scenes:
        image = scene["image"]
        info = [
            _object(each, described[image, each["name"]], relations.get((image, each["name"]), []))
            for each in scene["objects"]
            if (image, each["name"]) in described
        ]
        rows += [{"image": image, "info": info}] if info else []
    return rows


def _object(row: Mapping[str, Any], description: str, relations: list[str]) -> dict[str, Any]:
    short, _, full = description.partition("\n")
    return {
        "category": object_category(row["name"]),
        "short_description": short,
        "extend_description": full or short,
        "mask_out": row["mask_out"],
        "relation": relations,
    }


def standing_relations(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The relations whose ends are both accepted objects."""
    names: dict[str, list[str]] = {}
    for each in candidates:
        if each.category == OBJECT:
            names.setdefault(each.image, []).append(each.question)
    standing = []
    for each in candidates:
        if each.category == RELATION:
            subject, end = ends_of(each)
            own = names.get(each.image, [])
            standing += [each] if subject in own and has_end(end, subject, own) else []
    return standing


def compreqa_rows(
    candidates: Sequence[Candidate], rows: Sequence[Mapping[str, Any]], seed: int
) -> dict[str, list[dict[str, Any]]]:
    """The CompreQA questions by kind.

    Those of kind p are drawn (`benchmarks.comprecap.drafts`). Those of kind cap are the accepted
    ones about objects of the graph; if there are none, they are drawn too.
    """
    objects = {(each.image, each.question) for each in candidates if each.category == OBJECT}
    questions: dict[str, list[dict[str, Any]]] = {"p": [], "cap": []}
    for each in candidates:
        if each.category == QUESTION and (each.image, each.question) in objects:
            questions["cap"].append(_row(each.image, _compreqa(each)))
    accepted = bool(questions["cap"])
    for image, question in _drawn(rows, seed):
        if question.kind == "p" or not accepted:
            questions[question.kind].append(_row(image, question))
    return questions


def _drawn(rows: Sequence[Mapping[str, Any]], seed: int) -> Iterator[tuple[str, CompreQaQuestion]]:
    request = PlanRequest({"description": "extend"}, seed)
    graphs = (Row("anno.json", number, row) for number, row in enumerate(rows, start=1))
    scenes = [scene for graph in graphs if (scene := annotated_scene(graph, request))]
    return draft_questions(scenes, seed)


def _row(image: str, question: CompreQaQuestion) -> dict[str, Any]:
    return {
        "image_name": image,
        "category": question.category,
        "question": question.question,
        "answer": question.answer,
    }


def summary(candidates: Sequence[Candidate]) -> str:
    """Sentences about the number of objects and relations, and of relations that are lost."""
    objects = [each for each in candidates if each.category == OBJECT]
    relations = len(standing_relations(candidates))
    lost = sum(each.category == RELATION for each in candidates) - relations
    left = f" {lost:,} accepted relations lack an end that is accepted." if lost else ""
    return (
        f"Scene graphs of {_pictures(objects):,} pictures for CompreCap's protocol: "
        f"{len(objects):,} objects, {relations:,} relations.{left}"
    )


def statistics(candidates: Sequence[Candidate]) -> list[tuple[str, ...]]:
    """The statistics that the paper gives (Table S9), here and in the paper."""
    objects = [each for each in candidates if each.category == OBJECT]
    pictures = _pictures(objects)
    categories = len({spelling_key(object_category(each.question)) for each in objects})
    relations = len(standing_relations(candidates))
    per_picture = [f"{n / pictures:.2f}" if pictures else "" for n in (len(objects), relations)]
    return [
        ("", "here", "the paper's"),
        ("pictures", f"{pictures:,}", "560"),
        ("categories", f"{categories:,}", "412"),
        ("objects per picture", per_picture[0], "6.26"),
        ("relations per picture", per_picture[1], "8.84"),
    ]


def _pictures(objects: Sequence[Candidate]) -> int:
    return len({each.image for each in objects})
