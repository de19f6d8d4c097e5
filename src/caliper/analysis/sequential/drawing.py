"""The order in which the questions of a comparison are judged.

In every stratum, such as a task or a domain, questions are drawn without replacement and spread
evenly over media. Question j of the m about a medium has the place (j + U) / m, with j random and
U uniform for the medium, and lower places come first. So every question has a uniform place, also
where media have different numbers of questions, and no medium is asked about twice before the
others had their share. Strata are drawn independently of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

BLOCKS = 40
"""A decision is possible after each of so many blocks."""
LEAST_UNITS = 30
"""The least number of questions that the first block takes from a stratum."""
_BITS = 64


@dataclass(frozen=True, slots=True)
class Unit:
    """A question that can be asked: its index in the plan, its stratum and its medium."""

    index: int
    stratum: str
    medium: str


def draw_order(units: Sequence[Unit], seed: bytes) -> list[list[int]]:
    """The indexes of the units, block by block.

    `seed` is a digest of the captions of both runs: an order that is known before they are written
    could be trained on. The first block has `LEAST_UNITS` of every stratum, or all. Block b ends at
    the share b / `BLOCKS` of every stratum, so a small draw may have fewer blocks.
    """
    strata: dict[str, list[tuple[float, int]]] = {}
    for (stratum, medium), indexes in _by_medium(units).items():
        offset = _rank(seed, "medium", stratum, medium)
        indexes.sort(key=lambda index: (_rank(seed, "unit", str(index)), index))
        places = (((place + offset) / len(indexes), index) for place, index in enumerate(indexes))
        strata.setdefault(stratum, []).extend(places)
    blocks: list[list[tuple[float, int]]] = [[] for _ in range(BLOCKS)]
    for ordered in map(sorted, strata.values()):
        done = 0
        for block in range(BLOCKS):
            end = max(min(LEAST_UNITS, len(ordered)), -(-len(ordered) * (block + 1) // BLOCKS))
            blocks[block].extend(ordered[done:end])
            done = end
    return [[index for _, index in sorted(block)] for block in blocks if block]


def _by_medium(units: Sequence[Unit]) -> dict[tuple[str, str], list[int]]:
    media: dict[tuple[str, str], list[int]] = {}
    for unit in units:
        media.setdefault((unit.stratum, unit.medium), []).append(unit.index)
    return media


def _rank(seed: bytes, *names: str) -> float:
    """A number from 0 up to 1 that depends on seed and names only."""
    digest = blake2b("\0".join(names).encode(), key=seed[:64], digest_size=_BITS // 8).digest()
    return int.from_bytes(digest) / float(2**_BITS)
