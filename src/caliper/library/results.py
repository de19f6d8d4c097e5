"""Results of comparing, gating, ranking and planning, which notebooks show inline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from caliper.adapters.exports.comparison import comparison_json
from caliper.adapters.exports.gate import gate_markdown, gate_rows
from caliper.adapters.exports.leaderboard import (
    leaderboard_csv,
    leaderboard_json,
    leaderboard_markdown,
)
from caliper.adapters.exports.report_reader import read_report
from caliper.adapters.pages.compare import render_comparison
from caliper.adapters.pages.leaderboard import render_leaderboard
from caliper.adapters.pages.page_data import Thumbnail
from caliper.adapters.pages.trend import render_trend
from caliper.analysis.comparability import check_comparable, setup_differences
from caliper.analysis.compare import Difference
from caliper.analysis.gate import GateFinding, GateResult
from caliper.analysis.leaderboard import Board
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.entry_states import EntryState
from caliper.core.report import Report
from caliper.core.suites import step_in
from caliper.library.inline import frame, grid, remarks
from caliper.library.run import Run
from caliper.local.estimate import BenchmarkEstimate
from caliper.local.suite_decisions import EvaluatedRun
from caliper.pipeline.comparing.comparison import Comparison

_ROOM = 2_000_000
"""For the pictures of a comparison in a notebook, in bytes."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Runs compared with a base. `warnings` name differences besides the checkpoints, and judge
    drift.
    """

    comparison: Comparison = field(repr=False)
    warnings: tuple[str, ...]
    thumbnail: Thumbnail = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The base and the candidates."""
        return self.comparison.names

    @property
    def differences(self) -> dict[str, dict[str, dict[str, Difference]]]:
        """The differences by candidate, benchmark and dotted path of the figure."""
        return {
            name: {
                part.name: {".".join(path): each for path, each in part.figures.items()}
                for part in candidate.parts
            }
            for name, candidate in zip(self.names[1:], self.comparison.candidates, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """The output of `caliper compare --json`."""
        document: dict[str, Any] = json.loads(comparison_json(self.comparison))
        return document

    def _repr_html_(self) -> str:
        page = render_comparison(self.comparison, self.thumbnail, _ROOM)
        return remarks(self.warnings) + frame(page)


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether a candidate may replace a base. `warnings` are as those of a comparison."""

    names: tuple[str, ...]
    result: GateResult = field(repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def decision(self) -> str:
        """`passed`, `regression` or `inconclusive`."""
        return str(self.result.decision)

    @property
    def passed(self) -> bool:
        """Whether every critical check rules out a larger drop than it allows."""
        return self.decision == "passed"

    @property
    def findings(self) -> tuple[GateFinding, ...]:
        """The result of each check for each figure."""
        return tuple(self.result.findings)

    @property
    def markdown(self) -> str:
        """The output of `caliper gate --markdown`."""
        before, after = self.names
        return gate_markdown(before, after, self.result)

    def __str__(self) -> str:
        return f"{self.names[1]} against {self.names[0]}: {self.decision}"

    def _repr_html_(self) -> str:
        return remarks((str(self), *self.warnings)) + grid(*gate_rows(self.result))


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Checkpoints ranked in tables. Iterates over its boards."""

    boards: tuple[Board, ...]

    @property
    def markdown(self) -> str:
        """The output of `caliper leaderboard --markdown`."""
        return "\n".join(map(leaderboard_markdown, self.boards))

    @property
    def csv(self) -> str:
        """The output of `caliper leaderboard --csv`."""
        return "\n".join(map(leaderboard_csv, self.boards))

    def to_list(self) -> list[dict[str, Any]]:
        """The output of `caliper leaderboard --json`."""
        documents: list[dict[str, Any]] = json.loads(leaderboard_json(self.boards))
        return documents

    def __iter__(self) -> Iterator[Board]:
        return iter(self.boards)

    def _repr_html_(self) -> str:
        return frame(render_leaderboard(self.boards))


@dataclass(frozen=True, slots=True)
class RunTrend:
    """Runs by training step, those without one last."""

    entries: tuple[CheckpointEntry, ...]

    @classmethod
    def of(cls, runs: Sequence[Run], *, anyway: bool = False) -> Self:
        """Their trend. Raises NotComparable for runs that are not alike, without `anyway`."""
        reports = [read_report(run.text, run.id) for run in runs]
        if not anyway:
            for report in reports[1:]:
                check_comparable(setup_differences(reports[0], report))
        entries = [_entry(*each) for each in zip(runs, reports, strict=True)]
        # By step only: runs without one keep their order.
        return cls(tuple(sorted(entries, key=lambda entry: entry.order[0])))

    def _repr_html_(self) -> str:
        # A cell has no room for hundreds of folded charts.
        entries = [
            replace(entry, figures=tuple(one for one in entry.figures if one.is_headline))
            for entry in self.entries
        ]
        figures = {(one.benchmark, one.path): None for entry in entries for one in entry.figures}
        return frame(render_trend("Headline figures", entries, list(figures)))


def _entry(run: Run, report: Report) -> CheckpointEntry:
    """The run as an entry of a suite."""
    checkpoint = CheckpointRevision(run.id, run.id, run.name, step_in(run.name))
    entry = CheckpointEntry("", "", checkpoint, "", "", EntryState.EVALUATED)
    return replace(entry, **EvaluatedRun(run.id, report).fields)


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The estimated cost of a run. `run` is its id, empty for an installation."""

    run: str
    benchmarks: tuple[BenchmarkEstimate, ...]

    @property
    def calls(self) -> int:
        """Calls of chat models, besides those that write captions."""
        return sum(each.calls for each in self.benchmarks)

    @property
    def questions(self) -> int:
        """Questions about captions and media."""
        return sum(each.questions for each in self.benchmarks)

    def _repr_html_(self) -> str:
        names = ("samples", "questions", "captions_to_write", "calls", "prompt_tokens")
        rows = (
            (each.benchmark, *(f"{getattr(each, name):,}" for name in names))
            for each in self.benchmarks
        )
        return grid(("benchmark", *(name.replace("_", " ") for name in names)), *rows)
