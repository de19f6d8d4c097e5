"""Conversion of figures and coverage to and from messages."""

from __future__ import annotations

from caliper.adapters.wire.enums import decode_reason, encode_reason
from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.types.v1 import outcome_pb2
from caliper.benchmarks.registry import benchmark
from caliper.core.outcome import Reason
from caliper.core.report import BenchmarkReport, Coverage, Estimate, Path


def encode_coverage(coverage: Coverage) -> outcome_pb2.Coverage:
    """A message that `decode_coverage` reads back to an equal coverage; reasons in enum order."""
    return outcome_pb2.Coverage(
        planned=coverage.planned,
        scored=coverage.scored,
        unscored=[
            outcome_pb2.Unscored(reason=encode_reason(reason), count=coverage.unscored[reason])
            for reason in Reason
            if coverage.unscored.get(reason)
        ],
    )


def decode_coverage(message: outcome_pb2.Coverage) -> Coverage:
    """The coverage that `encode_coverage` wrote. Raises InvalidInput for an unknown reason."""
    unscored = {str(decode_reason(part.reason)): part.count for part in message.unscored}
    return Coverage(message.planned, message.scored, unscored)


def encode_scores(part: BenchmarkReport) -> outcome_pb2.BenchmarkScores:
    """The figures of one benchmark, headline first."""
    paths = [part.headline, *(path for path in part.estimates if path != part.headline)]
    return outcome_pb2.BenchmarkScores(
        benchmark=part.name,
        coverage=encode_coverage(part.coverage),
        figures=[
            _encode_figure(path, part.estimates[path]) for path in paths if path in part.estimates
        ],
        notes=[to_wire(note) for note in part.notes],
        lacking=[to_wire(name) for name in part.lacking],
    )


def _encode_figure(path: Path, estimate: Estimate) -> outcome_pb2.Estimate:
    return encode_fields(outcome_pb2.Estimate, estimate, path=[to_wire(step) for step in path])


def decode_scores(message: outcome_pb2.BenchmarkScores) -> BenchmarkReport:
    """The figures of one benchmark, headline first, without tables, settings and models.

    Raises InvalidInput for a malformed text, UnknownName for an unknown benchmark.
    """
    figures = {
        tuple(from_wire(step) for step in figure.path): decode_fields(Estimate, figure)
        for figure in message.figures
    }
    return BenchmarkReport(
        name=message.benchmark,
        title=benchmark(message.benchmark).title,
        headline=next(iter(figures), ()),
        estimates=figures,
        tables=(),
        coverage=decode_coverage(message.coverage),
        notes=tuple(from_wire(note) for note in message.notes),
        lacking=tuple(from_wire(name) for name in message.lacking),
    )
