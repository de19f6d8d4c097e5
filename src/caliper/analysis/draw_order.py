"""The order in which questions are judged, where not all may be.

In every stratum, such as a task or a domain, questions are drawn without replacement and spread
evenly over media. Question j of the m about a medium has the place (j + U) / m, with j random and
U uniform for the medium, and lower places come first. So every question has a uniform place, also
where media have different numbers of questions, and no medium is asked about twice before the
others had their share. Strata are drawn independently of each other. Source: systematic sampling
with a random start, Cochran, Sampling Techniques (1977), chapter 8.
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
    """A question that can be asked, or several that are drawn together: its index among all, its
    stratum and its medium.
    """

    index: int
    stratum: str
    medium: str


def draw_order(units: Sequence[Unit], seed: bytes) -> list[list[int]]:
    """The indexes of the units, block by block.

    `seed` is a digest of the captions of both runs: an order that is known before they are written
    could be trained on. The first block has `LEAST_UNITS` of every stratum, or all. Block b ends at
    the share b / `BLOCKS` of every stratum, so a small draw may have fewer blocks.
    """
    strata: dict[str, list[Unit]] = {}
    for unit in units:
        strata.setdefault(unit.stratum, []).append(unit)
    blocks: list[list[int]] = [[] for _ in range(BLOCKS)]
    for name in sorted(strata):
        order, done = spread(strata[name], seed), 0
        for block, end in zip(blocks, block_ends(len(order)), strict=True):
            block.extend(order[done:end])
            done = end
    return [block for block in blocks if block]


def spread(units: Sequence[Unit], seed: bytes) -> list[int]:
    """The indexes of the units of one stratum in their order."""
    media: dict[str, list[int]] = {}
    for unit in units:
        media.setdefault(unit.medium, []).append(unit.index)
    stratum, places = units[0].stratum, list[tuple[float, int]]()
    for medium, indexes in media.items():
        offset = _rank(seed, "medium", stratum, medium)
        indexes.sort(key=lambda index: (_rank(seed, "unit", str(index)), index))
        places += (((place + offset) / len(indexes), index) for place, index in enumerate(indexes))
    return [index for _, index in sorted(places)]


def block_ends(count: int) -> list[int]:
    """How many of a stratum's `count` questions are drawn after each block."""
    least = min(LEAST_UNITS, count)
    return [max(least, -(-count * (block + 1) // BLOCKS)) for block in range(BLOCKS)]


def _rank(seed: bytes, *names: str) -> float:
    """A number from 0 up to 1 that depends on seed and names only."""
    digest = blake2b("\0".join(names).encode(), key=seed[:64], digest_size=_BITS // 8).digest()
    return int.from_bytes(digest) / float(2**_BITS)
