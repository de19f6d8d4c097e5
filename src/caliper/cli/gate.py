"""`caliper gate`: decides by a policy whether a candidate may replace a base."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from rich.markup import escape
from rich.table import Table

from caliper.adapters.exports.gate import gate_markdown
from caliper.adapters.files import write_text
from caliper.adapters.phrases import dimensions, number
from caliper.analysis.gate import (
    Check,
    Decision,
    GateFinding,
    GateResult,
    GateSide,
    Policy,
    Tier,
    gate,
)
from caliper.analysis.significance import LEVEL
from caliper.benchmarks.registry import benchmark_names
from caliper.cli.comparison import Anyway, open_comparison
from caliper.cli.console import OUT, write_json, write_reason
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet, output_file
from caliper.cli.installation import InstalledServer
from caliper.cli.options import command_taking
from caliper.core.errors import InvalidInput
from caliper.core.run import RunState
from caliper.local.yaml_text import read_yaml
from caliper.pipeline.comparing.comparison import ComparisonRequest
from caliper.pipeline.comparing.comparison import Side as ComparedRun

_HELP = "A run directory, its name below runs/, or a run id; with --server a run id."
Base = Annotated[str, typer.Argument(metavar="BASE", help=_HELP)]
Candidate = Annotated[str, typer.Argument(metavar="CANDIDATE", help=_HELP)]
PolicyFile = Annotated[
    Path, typer.Option("--policy", help="YAML file with the checks (see docs/comparing.md).")
]
Markdown = Annotated[Path | None, output_file("--markdown", "the findings")]
_EXITS = {
    Decision.PASSED: Exit.DONE,
    Decision.REGRESSION: Exit.NO,
    Decision.INCONCLUSIVE: Exit.INCONCLUSIVE,
}
_COLOURS = {
    Decision.PASSED: "green",
    Decision.REGRESSION: "bold red",
    Decision.INCONCLUSIVE: "yellow",
}


HELP = """Decide whether CANDIDATE may replace BASE.

Exit code 0: every critical check rules out a larger drop than it allows; 1: a critical or
supporting check found one; 2: bad input; 3: inconclusive (see
docs/comparing.md).
"""


@dataclass(frozen=True, slots=True)
class GateOptions:
    """The arguments and options of `gate`."""

    base: Base
    candidate: Candidate
    policy: PolicyFile
    server: InstalledServer = None
    markdown: Markdown = None
    anyway: Anyway = False
    json: Json = False
    quiet: Quiet = False


def decide(options: GateOptions) -> int:
    """Apply the policy; the exit code is the decision."""
    policy = read_policy(options.policy)
    # Accept incomplete runs: the gate then decides nothing instead of failing.
    request = ComparisonRequest(options.anyway, partial=True, flips=0)
    comparison, _ = open_comparison((options.base, options.candidate), options.server, request)
    (against,) = comparison.candidates
    differences = {part.name: part.figures for part in against.parts}
    before, after = comparison.names
    base, candidate = map(_gate_side, comparison.sides)
    result = gate(policy, differences, base, candidate)
    if options.markdown is not None:
        write_text(options.markdown, gate_markdown(before, after, result))
    if options.json:
        write_json(_as_json(before, after, result), sort_keys=True)
    elif not options.quiet:
        _show(before, after, result)
    elif result.decision is not Decision.PASSED:
        decisive = (each for each in result.findings if each.decision is result.decision)
        figures = ", ".join(f"{each.check.benchmark} {each.figure}" for each in decisive)
        write_reason(f"{result.decision}: {figures}")
    return _EXITS[result.decision]


def _gate_side(run: ComparedRun) -> GateSide:
    coverage = {name: coverage.share for name, coverage in run.coverage.items()}
    return GateSide(run.state is RunState.COMPLETE, coverage, run.stuffed)


def _show(before: str, after: str, result: GateResult) -> None:
    grid = Table(title_justify="left", box=None, pad_edge=False)
    for column in ("check", "tier", "", before, after, "difference", "allowed drop"):
        right = column not in ("check", "tier", "")
        grid.add_column(escape(column), justify="right" if right else "left")
    for finding in result.findings:
        grid.add_row(*_row(finding))
    OUT.print(grid)
    colour = _COLOURS[result.decision]
    OUT.print(f"\n[{colour}]{result.decision}[/{colour}]")


def _row(finding: GateFinding) -> tuple[str, ...]:
    colour, difference = _COLOURS[finding.decision], finding.difference
    verdict = f"[{colour}]{finding.decision}[/{colour}]"
    dimension_notes = "" if difference is None else dimensions(difference)
    if reasons := "; ".join(filter(None, (finding.reason, dimension_notes))):
        verdict += f" [dim]{escape(reasons)}[/dim]"
    figures = ("", "", "")
    if difference is not None:
        values = (difference.first, difference.second, difference.value)
        figures = (number(values[0]), number(values[1]), number(values[2]))
    margin = "" if finding.margin is None else number(finding.margin)
    name = f"{finding.check.benchmark} {finding.figure}"
    return (escape(name), str(finding.check.tier), verdict, *figures, margin)


def _as_json(before: str, after: str, result: GateResult) -> dict[str, object]:
    return {
        "base": before,
        "candidate": after,
        "decision": result.decision,
        "findings": [asdict(finding) for finding in result.findings],
    }


command = command_taking(decide, GateOptions, help_text=HELP)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Check(_Strict):
    benchmark: str
    figure: str = Field(min_length=1)
    tier: Tier = Tier.CRITICAL
    max_drop: float | None = Field(default=None, ge=0)
    max_relative_drop: float | None = Field(default=None, ge=0, le=1)
    min_pairs: int = Field(default=2, ge=2)

    @field_validator("benchmark")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in benchmark_names():
            raise ValueError(f"unknown benchmark {value!r}; known: {', '.join(benchmark_names())}")
        return value


class _Policy(_Strict):
    checks: tuple[_Check, ...] = Field(min_length=1)
    level: float = Field(default=LEVEL, gt=0, lt=0.5)
    min_coverage: float = Field(default=0.99, ge=0, le=1)


def read_policy(path: Path) -> Policy:
    """The policy in a YAML file. Raises InvalidInput naming file and field.

    level: 0.05            # optional: the significance level
    min_coverage: 0.99     # optional: share of a benchmark's questions that have a score
    checks:
      - benchmark: capability
        figure: average.f1     # a path of report.json; tasks.*.f1 stands for all tasks
        tier: critical         # critical, supporting or advisory
        max_drop: 1.0          # in the figure's unit
        max_relative_drop: 0.02
        min_pairs: 100         # media in both runs
    """
    try:
        policy = _Policy.model_validate(read_yaml(path))
    except ValidationError as error:
        problem = error.errors()[0]
        field = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        raise InvalidInput(message, file=str(path), field=field) from error
    checks = tuple(Check(**check.model_dump()) for check in policy.checks)
    return Policy(checks, policy.level, policy.min_coverage)
