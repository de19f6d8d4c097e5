"""Builds of a domain of CaptionQA: edits of questions, and the file that is evaluated
(docs/data.md).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from caliper.building.candidates import LONGEST_TEXT, Candidate
from caliper.building.captionqa.formats import fault, tidied
from caliper.building.kinds import BuildKind, CandidateEdit
from caliper.core.errors import InvalidInput

REASONS = (
    "no option is right",
    "several options are right",
    "the picture does not show it",
    "answerable without the picture",
    "unclear or badly worded",
)


def edit_question(candidate: Candidate, edit: CandidateEdit) -> Candidate:
    """The question with other texts, under its id. Raises InvalidInput if they break a rule of
    formats.
    """
    question, choices = edit.question, edit.choices
    texts = tidied(replace(candidate, question=question, choices=choices, answer=edit.answer))
    if max(map(len, (question, *choices))) > LONGEST_TEXT:
        raise InvalidInput(f"a text is longer than {LONGEST_TEXT:,} characters")
    reason, detail = fault(texts)
    if reason:
        raise InvalidInput(f"{reason}: {detail}" if detail else reason)
    return replace(texts, id=candidate.id)


def files(candidates: Sequence[Candidate], build: Mapping[str, Any]) -> dict[str, str]:
    """captionqa.json, with a line per picture, so that versions of a dataset can be compared."""
    rows = official_rows(candidates, build["domain"])
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return {"captionqa.json": f"[\n{lines}\n]\n"}


def summary(candidates: Sequence[Candidate]) -> str:
    """A sentence about the number of questions."""
    pictures = len({candidate.image for candidate in candidates})
    return (
        f"{len(candidates):,} multiple-choice questions, {len(candidates) / pictures:.2f} per "
        "picture, for CaptionQA's protocol."
    )


def official_rows(candidates: Sequence[Candidate], domain: str) -> list[dict[str, Any]]:
    """One row per picture, in the layout of the published data.

    `extension` marks a domain that is not in the paper. The sample's id is the picture's path
    without its extension, or with it if two pictures would have the same id.
    """
    by_image: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_image.setdefault(candidate.image, []).append(candidate)
    ids = _ids(list(by_image))
    return [
        {
            "id": ids[image],
            "images": [image],
            "image_paths": [image],
            "domain": domain,
            "extension": True,
            "questions": [_question(candidate) for candidate in questions],
        }
        for image, questions in sorted(by_image.items())
    ]


def _ids(images: Sequence[str]) -> dict[str, str]:
    stems = {image: _stem(image) for image in images}
    counts = Counter(stems.values())
    return {
        image: stem if counts[stem] == 1 and stem not in stems else image
        for image, stem in stems.items()
    }


def _stem(image: str) -> str:
    folder, slash, name = image.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)


def _question(candidate: Candidate) -> dict[str, Any]:
    return {
        **({"id": candidate.given} if candidate.given else {}),
        "question": candidate.question,
        "choices": list(candidate.choices),
        "answer": candidate.answer,
        "category": [candidate.category],
    }


CAPTIONQA = BuildKind(
    benchmark="captionqa",
    noun="question",
    reasons=REASONS,
    edited=edit_question,
    files=files,
    summary=summary,
    bound="per_category",
)
