"""Balance over categories: a maximum number of candidates in each."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from caliper.building.candidates import Candidate
from caliper.building.steps import Fate

FULL = "category is full"


def _image(candidate: Candidate) -> str:
    return candidate.image


def balance(
    fates: Sequence[Fate],
    most: int | None,
    seed: int,
    share: Callable[[Candidate], str] = _image,
    later: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Fate, ...]:
    """Keep at most `most` candidates per category, spread over their shares, drawn by `seed`.

    Each share, by default a picture, gives its first candidate of a category before any gives its
    second. The selection depends only on the seed and the ids. Candidates whose ids are in `later`
    fill the places that the others leave in a category, in the order of their numbers.
    """
    if most is None:
        return tuple(fates)
    drawn = sorted(
        (fate.candidate for fate in fates),
        key=lambda each: (later.get(each.id, 0), _rank(seed, each)),
    )
    turns = Counter[tuple[str, str]]()
    queues: dict[str, list[tuple[int, int, int, Candidate]]] = {}
    for place, candidate in enumerate(drawn):
        part = candidate.category, share(candidate)
        turn = turns[part]
        turns[part] += 1
        order = later.get(candidate.id, 0), turn, place
        queues.setdefault(candidate.category, []).append((*order, candidate))
    selection = {
        candidate.id
        for queue in queues.values()
        for *_, candidate in sorted(queue, key=lambda entry: entry[:3])[:most]
    }
    return tuple(
        fate
        if fate.candidate.id in selection
        else replace(fate, dropped=FULL, detail=fate.candidate.category)
        for fate in fates
    )


def _rank(seed: int, candidate: Candidate) -> bytes:
    return hashlib.sha256(f"{seed}\0{candidate.id}".encode()).digest()
