"""Balance over categories: at most so many candidates of each."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

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
    spare: Collection[str] = (),
) -> tuple[Fate, ...]:
    """Keep at most `most` candidates per category, spread over their shares, drawn by `seed`.

    Each share, by default a picture, gives its first candidate of a category before any gives its
    second. Which ones, depends on the seed and the ids alone. Candidates with an id among `spare`
    come after the others of their share.
    """
    if most is None:
        return tuple(fates)
    drawn = sorted(
        (fate.candidate for fate in fates),
        key=lambda each: (each.id in spare, _rank(seed, each)),
    )
    turns = Counter[tuple[str, str]]()
    queues: dict[str, list[tuple[int, int, Candidate]]] = {}
    for place, candidate in enumerate(drawn):
        part = candidate.category, share(candidate)
        turn = turns[part]
        turns[part] += 1
        queues.setdefault(candidate.category, []).append((turn, place, candidate))
    kept = {
        candidate.id
        for queue in queues.values()
        for _, _, candidate in sorted(queue, key=lambda entry: entry[:2])[:most]
    }
    return tuple(
        fate
        if fate.candidate.id in kept
        else replace(fate, dropped=FULL, detail=fate.candidate.category)
        for fate in fates
    )


def _rank(seed: int, candidate: Candidate) -> bytes:
    return hashlib.sha256(f"{seed}\0{candidate.id}".encode()).digest()
