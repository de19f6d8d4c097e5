"""The comparison page: several runs against the first, with differences and flips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from caliper.adapters import phrases
from caliper.adapters.caption_warnings import side_warnings
from caliper.adapters.pages import charts
from caliper.adapters.pages.page import TABLES, cut, data_uri, render
from caliper.adapters.pages.page_data import Thumbnail
from caliper.analysis.comparability import describe, incomparable
from caliper.analysis.compare import Difference
from caliper.analysis.flips import Flip
from caliper.analysis.significance import LEVEL
from caliper.core.report import Estimate
from caliper.core.run import RunState
from caliper.pipeline.comparing.comparison import Against, Comparison, Part

PICTURES = 20_000_000
"""The most bytes of pictures on a page, as base64 JPEG."""
_PICTURES = 2


@dataclass(frozen=True, slots=True)
class Section:
    """Some figures of a benchmark: one (label, difference) per row."""

    title: str
    rows: tuple[tuple[str, Difference], ...]


def sections(candidate: Against) -> list[Section]:
    """The headlines and each benchmark's first table; empty without a common benchmark.

    A run that was cut short may have no headline figure yet.
    """
    if not candidate.parts:
        return []
    nothing = Difference(None, None)
    headlines = tuple(
        (_headline(part), part.figures.get(part.headline, nothing)) for part in candidate.parts
    )
    return [Section("Headline figures", headlines), *map(_section, candidate.parts)]


def _headline(part: Part) -> str:
    labels = {path: phrases.figure_name(label, part.column) for label, path in part.rows}
    name = labels.get(part.headline) or ", ".join(map(phrases.readable, part.headline))
    return f"{part.title}: {name}"


def _section(part: Part) -> Section:
    rows = tuple((label, part.figures[path]) for label, path in part.rows)
    title = part.title if part.column == "value" else f"{part.title}: {part.column}"
    return Section(title, rows)


def render_comparison(
    comparison: Comparison, thumbnail: Thumbnail, room: int = PICTURES, **around: Any
) -> str:
    """Render the page. Captions and replies are untrusted: the templates escape them.

    `around` are further values for `page.render`, set when a server renders the page. Pictures
    that do not fit in `room` bytes are left out, and the page says so.
    """
    album = _Album(thumbnail, room)
    names = comparison.names
    candidates = [
        _candidate(name, candidate, album)
        for name, candidate in zip(names[1:], comparison.candidates, strict=True)
    ]
    return render(
        "compare.html",
        scripts=TABLES,
        base=names[0],
        base_run=comparison.base.run,
        candidates=candidates,
        warnings=list(chain.from_iterable(map(side_warnings, names, comparison.sides))),
        unfinished=[side for side in comparison.sides if side.state is not RunState.COMPLETE],
        pictures_left_out=album.left_out,
        axis_of=_axis,
        basis_of=phrases.basis,
        unpaired_of=phrases.unpaired,
        estimate_of=_estimate,
        is_clear=_is_clear,
        **around,
    )


class _Album:
    """Pictures as data URIs, as long as `room` bytes allow."""

    def __init__(self, thumbnail: Thumbnail, room: int) -> None:
        self._thumbnail, self._room = thumbnail, room
        self.left_out = 0

    def of(self, benchmark: str, media: Sequence[str]) -> Iterator[str]:
        for path in media[:_PICTURES]:
            jpeg = self._thumbnail(benchmark, path)
            if jpeg is None:
                continue
            picture = data_uri(jpeg)
            if self._room < len(picture):
                self._room = 0
                self.left_out += 1
                continue
            self._room -= len(picture)
            yield picture


@dataclass(frozen=True, slots=True)
class _Card:
    """The flips of a question: `flip` is that of its first repeat, `changes` says all."""

    flip: Flip
    repeats: int
    changes: str
    sides: tuple[tuple[str, str], tuple[str, str]]
    pictures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _CandidateView:
    name: str
    against: Against
    alike: bool
    differing: tuple[str, ...]
    sections: Sequence[Section]
    directions: tuple[tuple[str, int, tuple[_Card, ...]], ...]


def _candidate(name: str, candidate: Against, album: _Album) -> _CandidateView:
    flips = candidate.flips
    directions = (("worse", flips.worse, False), ("better", flips.better, True))
    return _CandidateView(
        name,
        candidate,
        not incomparable(candidate.setup_differences),
        tuple(map(describe, candidate.setup_differences)),
        sections(candidate),
        tuple(
            (direction, count, tuple(_cards(flips.of(better=better), album)))
            for direction, count, better in directions
        ),
    )


def _cards(flips: Iterable[Flip], album: _Album) -> Iterator[_Card]:
    """One card for all repeats of a question."""
    questions: dict[tuple[str, str], list[Flip]] = {}
    for flip in flips:
        questions.setdefault((flip.after.benchmark, flip.after.question_id), []).append(flip)
    for repeats in questions.values():
        yield _card(repeats, album)


def _card(flips: Sequence[Flip], album: _Album) -> _Card:
    flip = flips[0]
    counts = Counter(f"{each.before.outcome} to {each.after.outcome}" for each in flips)
    changes = (
        f"{change} ({count})" if len(flips) > 1 else change for change, count in counts.items()
    )
    before, after = (
        (cut(row.explanation), cut(caption))
        for row, caption in zip((flip.before, flip.after), flip.captions, strict=True)
    )
    pictures = tuple(album.of(flip.after.benchmark, flip.after.media))
    return _Card(flip, len(flips), ", ".join(changes), (before, after), pictures)


def _axis(section: Section) -> charts.Scale | None:
    return charts.scale(_estimate(difference) for _, difference in section.rows)


def _estimate(difference: Difference) -> Estimate:
    return Estimate(difference.value, difference.low, difference.high, difference.method)


def _is_clear(difference: Difference) -> bool:
    return difference.adjusted is not None and difference.adjusted < LEVEL
