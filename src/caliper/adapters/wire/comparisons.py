"""Lossless conversion of comparisons to and from a stream of messages."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator
from dataclasses import replace
from typing import Any

from caliper.adapters.wire.enums import decode_state, encode_state
from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.figures import decode_coverage, encode_coverage
from caliper.adapters.wire.outcomes import decode_row, encode_row
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.analysis.comparability import Distinction
from caliper.analysis.compare import Difference
from caliper.analysis.flips import Flip, Flips
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import InvalidInput
from caliper.core.report import Path
from caliper.pipeline.comparing.comparer import Pictures
from caliper.pipeline.comparing.comparison import (
    FLIPS,
    Against,
    Comparison,
    ComparisonRequest,
    Part,
    Side,
)

_NUMBERS = (
    *("first", "second", "value", "low", "high"),
    *("error", "p", "adjusted", "detectable", "skew", "alike", "most"),
)


def decode_comparison_request(message: pb.CompareEvaluationsRequest) -> ComparisonRequest:
    """The options of a comparison."""
    flips = message.flips if message.HasField("flips") else FLIPS
    return ComparisonRequest(message.anyway, message.partial, flips)


def encode_comparison(
    comparison: Comparison, pictures: Pictures
) -> Iterator[pb.CompareEvaluationsResponse]:
    """Messages that `decode_comparison` reads back to an equal comparison."""
    yield pb.CompareEvaluationsResponse(base=_encode_side(comparison.base))
    for candidate in comparison.candidates:
        yield pb.CompareEvaluationsResponse(candidate=_encode_candidate(candidate))
        for flip in candidate.flips.listed:
            yield pb.CompareEvaluationsResponse(flip=_encode_flip(flip))
    for (benchmark, media), jpeg in pictures.items():
        picture = pb.Picture(benchmark=benchmark, media=to_wire(media), jpeg=jpeg)
        yield pb.CompareEvaluationsResponse(picture=picture)


async def decode_comparison(
    messages: AsyncIterable[pb.CompareEvaluationsResponse],
) -> tuple[Comparison, Pictures]:
    """The comparison in messages. Raises InvalidInput for a malformed sequence."""
    base: Side | None = None
    candidates: list[Against] = []
    flips: list[list[Flip]] = []
    pictures: Pictures = {}
    async for message in messages:
        match message.WhichOneof("part"):
            case "base":
                base = _decode_side(message.base)
            case "candidate":
                candidates.append(_decode_candidate(message.candidate))
                flips.append([])
            case "flip" if flips:
                flips[-1].append(_decode_flip(message.flip))
            case "picture":
                key = (message.picture.benchmark, from_wire(message.picture.media))
                pictures[key] = message.picture.jpeg
            case part:
                raise InvalidInput(f"unexpected part of a comparison: {part}")
    if base is None:
        raise InvalidInput("a comparison lacks its base")
    complete = tuple(
        replace(each, flips=replace(each.flips, listed=tuple(listed)))
        for each, listed in zip(candidates, flips, strict=True)
    )
    return Comparison(base, complete), pictures


def _encode_side(side: Side) -> pb.ComparedRun:
    return encode_fields(
        pb.ComparedRun,
        side,
        state=encode_state(side.state),
        coverage=[
            pb.CoverageOfBenchmark(benchmark=name, coverage=encode_coverage(coverage))
            for name, coverage in side.coverage.items()
        ],
        stuffed=[
            pb.StuffedBenchmark(benchmark=name, share=share) for name, share in side.stuffed.items()
        ],
    )


def _decode_side(message: pb.ComparedRun) -> Side:
    coverage = {part.benchmark: decode_coverage(part.coverage) for part in message.coverage}
    stuffed = {part.benchmark: part.share for part in message.stuffed}
    name, state = from_wire(message.name), decode_state(message.state)
    return Side(message.run, name, state, coverage, stuffed)


def _encode_candidate(candidate: Against) -> pb.ComparedCandidate:
    return pb.ComparedCandidate(
        run=_encode_side(candidate.side),
        differing=[encode_fields(pb.Distinction, each) for each in candidate.setup_differences],
        benchmarks=map(_encode_part, candidate.parts),
        better=candidate.flips.better,
        worse=candidate.flips.worse,
        same=candidate.flips.same,
        unpaired=candidate.flips.unpaired,
    )


def _decode_candidate(message: pb.ComparedCandidate) -> Against:
    return Against(
        _decode_side(message.run),
        tuple(decode_fields(Distinction, each) for each in message.differing),
        tuple(map(_decode_part, message.benchmarks)),
        Flips(message.better, message.worse, message.same, message.unpaired),
    )


def _encode_part(part: Part) -> pb.ComparedBenchmark:
    places = {path: place for place, path in enumerate(part.figures)}
    return pb.ComparedBenchmark(
        benchmark=part.name,
        title=to_wire(part.title),
        figures=[_encode_difference(path, figure) for path, figure in part.figures.items()],
        column=to_wire(part.column),
        rows=[
            pb.ComparedRow(label=to_wire(label), figure=places[path]) for label, path in part.rows
        ],
        shares=[
            pb.ScoredShares(figure=places[path], base=base, candidate=candidate)
            for path, (base, candidate) in part.shares.items()
        ],
    )


def _decode_part(message: pb.ComparedBenchmark) -> Part:
    figures = dict(map(_decode_difference, message.figures))
    paths = list(figures)
    shown = [row.figure for row in message.rows] + [each.figure for each in message.shares]
    if not paths or max(shown, default=0) >= len(paths):
        raise InvalidInput("a compared benchmark lacks a figure")
    return Part(
        name=message.benchmark,
        title=from_wire(message.title),
        headline=paths[0],
        column=from_wire(message.column),
        rows=tuple((from_wire(row.label), paths[row.figure]) for row in message.rows),
        figures=figures,
        shares={paths[each.figure]: (each.base, each.candidate) for each in message.shares},
    )


def _encode_difference(path: Path, difference: Difference) -> pb.Difference:
    return encode_fields(
        pb.Difference,
        difference,
        path=[to_wire(step) for step in path],
        whole=isinstance(difference.first if difference.second is None else difference.second, int),
    )


def _decode_difference(message: pb.Difference) -> tuple[Path, Difference]:
    difference = decode_fields(Difference, message, degrees=_degrees(message))
    if message.whole:
        numbers: dict[str, Any] = {
            name: int(getattr(message, name)) for name in _NUMBERS if message.HasField(name)
        }
        difference = replace(difference, **numbers)
    return tuple(from_wire(step) for step in message.path), difference


def _degrees(message: pb.Difference) -> int | None:
    """The degrees of freedom. An older gateway omits them, and counts all media as clusters."""
    if message.HasField("degrees") or not message.HasField("error"):
        return message.degrees if message.HasField("degrees") else None
    return max(1, message.clusters - 1)


def _encode_flip(flip: Flip) -> pb.Flip:
    return pb.Flip(
        before=encode_row(flip.before),
        after=encode_row(flip.after),
        caption_before=to_wire(flip.captions[0]),
        caption_after=to_wire(flip.captions[1]),
    )


def _decode_flip(message: pb.Flip) -> Flip:
    captions = (from_wire(message.caption_before), from_wire(message.caption_after))
    return Flip(decode_row(message.before), decode_row(message.after), captions)
