"""The questions of a build as rows that `caliper evaluate captionqa` reads (docs/data.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from caliper.building.candidates import Candidate


def official_rows(candidates: Sequence[Candidate], domain: str) -> list[dict[str, Any]]:
    """One row per picture, in the layout of the published data.

    `extension` tells that the domain is none of the paper's. The sample's id is the picture's path
    without its ending, or with it if another has the same.
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
        "question": candidate.question,
        "choices": list(candidate.choices),
        "answer": candidate.answer,
        "category": [candidate.category],
    }
