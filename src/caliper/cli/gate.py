"""`caliper gate`: decides by a policy whether a candidate may replace a base."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.adapters.exports.gate import gate_junit, gate_markdown
from caliper.adapters.files import write_text
from caliper.adapters.phrases import basis, checked_figure, number
from caliper.analysis.gate import Decision, GateFinding, GateResult, Policy
from caliper.cli.comparison import Anyway, compare_and_warn
from caliper.cli.console import OUT, write_json, write_reason
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet, output_file
from caliper.cli.installation import InstalledServer
from caliper.cli.options import command_taking
from caliper.cli.run_arguments import Base, Candidate
from caliper.cli.tables import text_table
from caliper.core.errors import InvalidInput
from caliper.local.gate_results import compared_gate, decided_gate
from caliper.local.policy import read_policy
from caliper.pipeline.comparing.gate_decision import GATE_REQUEST, describe_target, on_these

PolicyFile = Annotated[
    Path, typer.Option("--policy", help="YAML file with the checks (see docs/comparing.md).")
]
Aa = Annotated[
    bool,
    typer.Option(
        "--aa",
        help="Error rate of checks that stop early, on a run and its replicate.",
    ),
]
Markdown = Annotated[Path | None, output_file("--markdown", "the findings")]
Junit = Annotated[Path | None, output_file("--junit", "the findings as JUnit XML")]
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
    junit: Junit = None
    aa: Aa = False
    anyway: Anyway = False
    json: Json = False
    quiet: Quiet = False


def decide(options: GateOptions) -> int:
    """Apply the policy; the exit code is the decision."""
    policy = read_policy(options.policy)
    if options.aa:
        return _on_replicate(options, policy)
    runs = (options.base, options.candidate)
    gated = asyncio.run(decided_gate(runs, options.server, policy))
    if gated is None:
        request = replace(GATE_REQUEST, anyway=options.anyway)
        comparison, _ = compare_and_warn(runs, options.server, request)
        gated = compared_gate(comparison, policy)
    (before, after), result = gated
    if options.markdown is not None:
        write_text(options.markdown, gate_markdown(before, after, result))
    if options.junit is not None:
        write_text(options.junit, gate_junit(before, after, result))
    if options.json:
        write_json(_as_json(before, after, result), sort_keys=True)
    elif not options.quiet:
        _show(before, after, result)
    elif result.decision is not Decision.PASSED:
        decisive = (each for each in result.findings if each.decision is result.decision)
        figures = "; ".join(checked_figure(each.check.benchmark, each.figure) for each in decisive)
        write_reason(f"{result.decision}: {figures}")
    return _EXITS[result.decision]


def _on_replicate(options: GateOptions, policy: Policy) -> int:
    if options.server is not None or options.markdown is not None or options.junit is not None:
        message = "--aa takes run directories, but not --server, --markdown or --junit"
        raise InvalidInput(message)
    # Imported here, since numpy takes as long to import as all the rest of a short command.
    from caliper.cli.gate_aa import try_on_replicate  # noqa: PLC0415

    return try_on_replicate((options.base, options.candidate), policy, json=options.json)


def _show(before: str, after: str, result: GateResult) -> None:
    figures = (escape(before), escape(after), "difference", "allowed drop")
    grid = text_table(("check", "tier", ""), figures)
    for finding in result.findings:
        grid.add_row(*_row(finding))
    OUT.print(grid)
    colour = _COLOURS[result.decision]
    OUT.print(f"\n[{colour}]{result.decision}[/{colour}]")


def _row(finding: GateFinding) -> tuple[str, ...]:
    colour, difference = _COLOURS[finding.decision], finding.difference
    verdict = f"[{colour}]{finding.decision}[/{colour}]"
    over = "" if difference is None else basis(difference)
    if reasons := "; ".join((describe_target(finding), *filter(None, (finding.reason, over)))):
        verdict += f" [dim]{escape(reasons)}[/dim]"
    figures = ("", "", "")
    if difference is not None:
        values = (difference.first, difference.second, difference.value)
        figures = (number(values[0]), number(values[1]), number(values[2]))
    margin = "" if finding.margin is None else number(finding.margin)
    name = checked_figure(finding.check.benchmark, finding.figure)
    return (escape(name), str(finding.check.tier), verdict, *figures, margin)


def _as_json(before: str, after: str, result: GateResult) -> dict[str, object]:
    return {
        "base": before,
        "candidate": after,
        "decision": result.decision,
        "findings": [{**asdict(each), "on_these": on_these(each)} for each in result.findings],
    }


command = command_taking(decide, GateOptions, help_text=HELP)
