"""Runs of one benchmark by their setup, for the analyses of several runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import replace

from caliper.analysis.comparability import (
    Distinction,
    describe,
    incomparable,
    setup_differences,
)
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.ledger.runs import StoredRun

Setup = tuple[str, ...]
"""The differences of a setup from the first run's, which has ()."""


def runs_by_setup(
    runs: Sequence[StoredRun], name: str, ignored: Collection[str] = ()
) -> dict[Setup, list[StoredRun]]:
    """Runs of the benchmark `name` by setup.

    `ignored` names settings of the captions. Raises InvalidInput for no run, and for a run without
    the benchmark.
    """
    if not runs:
        raise InvalidInput("expected one or more runs", field="RUN")
    by_setup: dict[Setup, list[StoredRun]] = {}
    for run in runs:
        differing = _distinctions(runs[0].spec, run.spec, name, ignored)
        by_setup.setdefault(tuple(map(describe, differing)), []).append(run)
    return by_setup


def _distinctions(
    first: RunSpec, other: RunSpec, name: str, ignored: Collection[str]
) -> tuple[Distinction, ...]:
    """The differences between the setups of two runs, apart from their captions."""
    reports = [empty_report(_part_of(spec, name)) for spec in (first, other)]
    return tuple(
        each for each in incomparable(setup_differences(*reports)) if each.name not in ignored
    )


def _part_of(spec: RunSpec, name: str) -> RunSpec:
    parts = tuple(part for part in spec.benchmarks if part.name == name)
    if not parts:
        raise InvalidInput(f"{run_name(spec)} has no {benchmark(name).title}", field="RUN")
    return replace(spec, benchmarks=parts)


def refuse_other_data(specs: Sequence[RunSpec], name: str) -> None:
    """Raise InvalidInput for runs with different data, or different questions about the media."""
    with_questions: RunSpec | None = None
    for spec in specs:
        part = spec.benchmark(name)
        if part.data != specs[0].benchmark(name).data:
            both = f"{run_name(specs[0])} and {run_name(spec)}"
            raise InvalidInput(
                f"{both} have different data of {benchmark(name).title}", field="RUN"
            )
        if part.qa_data is None:
            continue
        with_questions = with_questions or spec
        if part.qa_data != with_questions.benchmark(name).qa_data:
            both = f"{run_name(with_questions)} and {run_name(spec)}"
            raise InvalidInput(
                f"{both} have different questions about the media (--qa)", field="RUN"
            )


def refuse_equal(
    specs: Sequence[RunSpec], key: Callable[[RunSpec], Hashable], what: Callable[[RunSpec], str]
) -> None:
    """Raise InvalidInput for two specs with the same `key`, which is described by `what`."""
    specs_by_key: dict[Hashable, RunSpec] = {}
    for spec in specs:
        other = specs_by_key.setdefault(key(spec), spec)
        if other is not spec:
            raise InvalidInput(
                f"the runs {other.run_id} and {spec.run_id} have the same {what(spec)}: evaluate "
                "one of them with another --name",
                field="RUN",
            )


def run_name(spec: RunSpec) -> str:
    """The name of a run in errors."""
    return f"run {spec.run_id} ({spec.name})"
