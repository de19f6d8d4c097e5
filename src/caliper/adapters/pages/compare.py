"""Two runs side by side as a page: differences with whiskers, and the questions that flipped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from caliper.adapters.pages import charts
from caliper.adapters.pages.packing import Thumbnail
from caliper.adapters.pages.page import render
from caliper.analysis.compare import Difference, Distinction
from caliper.analysis.flips import Flip, Flips
from caliper.analysis.significance import LEVEL
from caliper.core.report import Estimate

SHOWN = 100
"""The most flips of each direction on a page; their number is told, --json has them all."""
_PICTURES = 2

Captions = Mapping[tuple[str, str], str]
"""By (benchmark, sample)."""


@dataclass(frozen=True, slots=True)
class Section:
    """A benchmark's differences: a label and a difference a row."""

    title: str
    rows: tuple[tuple[str, Difference], ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """All that the page tells. `captions` are those of the first and of the second run."""

    names: tuple[str, str]
    differing: Sequence[Distinction]
    sections: Sequence[Section]
    flips: Flips
    captions: tuple[Captions, Captions]


def render_comparison(compared: Compared, thumbnail: Thumbnail) -> str:
    """The page as text. Captions and replies are untrusted: templates escape them."""
    return render(
        "compare.html",
        compared=compared,
        directions=_directions(compared, thumbnail),
        axis_of=_axis,
        estimate_of=_estimate,
        is_clear=_is_clear,
    )


@dataclass(frozen=True, slots=True)
class _Card:
    flip: Flip
    captions: tuple[str, str]
    pictures: tuple[str, ...]


def _directions(compared: Compared, thumbnail: Thumbnail) -> Iterator[tuple[str, int, list[_Card]]]:
    flips = compared.flips
    for name, found in (("worse", flips.worse), ("better", flips.better)):
        cards = [_card(flip, compared.captions, thumbnail) for flip in found[:SHOWN]]
        yield name, len(found), cards


def _card(flip: Flip, captions: tuple[Captions, Captions], thumbnail: Thumbnail) -> _Card:
    row = flip.after
    jpegs = (thumbnail(row.benchmark, name) for name in row.media[:_PICTURES])
    sides = ((captions[0], flip.before), (captions[1], flip.after))
    before, after = (texts.get((side.benchmark, side.sample), "") for texts, side in sides)
    pictures = tuple(
        f"data:image/jpeg;base64,{b64encode(jpeg).decode()}" for jpeg in jpegs if jpeg is not None
    )
    return _Card(flip, (before, after), pictures)


def _axis(section: Section) -> charts.Scale | None:
    return charts.scale(_estimate(found) for _, found in section.rows)


def _estimate(found: Difference) -> Estimate:
    return Estimate(found.value, found.low, found.high, found.method)


def _is_clear(found: Difference) -> bool:
    return found.adjusted is not None and found.adjusted < LEVEL
