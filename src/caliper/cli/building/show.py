"""How a build shows its steps."""

from __future__ import annotations

from collections import Counter
from typing import Any

from caliper.building.steps import StepResult
from caliper.cli.console import OUT, plain, write_json, write_reason
from caliper.cli.options import OutputOptions
from caliper.local.building.sequence import BuildResult


class BuildView:
    """Prints each step when it is done, or everything as JSON at the end."""

    def __init__(self, output: OutputOptions) -> None:
        self._output = output

    def step(self, step: StepResult, unchanged: bool) -> None:  # noqa: FBT001 - a callback
        """Print the counts of a step, and why candidates were dropped."""
        if self._output.json or self._output.quiet:
            return
        for line in step_lines(step, unchanged=unchanged):
            OUT.print(line, soft_wrap=True, highlight=False)

    def end(self, result: BuildResult) -> None:
        """Print the result, and why the build stopped, if it did."""
        if self._output.json:
            write_json(result_json(result))
        elif result.stopped:
            write_reason(f"Stopped at {result.stopped}. Rerun the same command to resume.")
        elif not self._output.quiet:
            OUT.print(_result_line(result), soft_wrap=True, highlight=False)


def step_lines(step: StepResult, *, unchanged: bool) -> list[str]:
    """A step as lines: its counts, then each reason with an example."""
    dropped = len(step.fates) - len(step.stayed)
    counts = f"{len(step.fates):,} in, {len(step.stayed):,} kept"
    counts += f", {dropped:,} dropped" if dropped else ""
    note = f" (skipped: {step.skipped})" if step.skipped else ""
    note = " (unchanged)" if unchanged else note
    lines = [f"[bold]{step.name}[/bold]: {counts}{note}"]
    lines += [f"  {plain(remark)}" for remark in step.remarks]
    for reason, examples in step.examples.items():
        first = examples[0]
        text = plain(f"{first.candidate.image}: {first.candidate.question}"[:120])
        lines.append(f"  {step.dropped[reason]:,} {reason}, e.g. [dim]{text}[/dim]")
    return lines


def _result_line(result: BuildResult) -> str:
    decisions = _decisions(result)
    empty = [plain(category) for category, count in result.coverage.items() if not count]
    line = f"{decisions['accept']:,} accepted, {decisions['review']:,} to review"
    covered = len(result.coverage) - len(empty)
    line += f"; {covered} of {len(result.coverage)} categories covered"
    return f"{line}. None: {', '.join(empty)}" if empty else line


def _decisions(result: BuildResult) -> Counter[str]:
    last = result.steps[-1].fates if result.steps else ()
    return Counter(fate.decision for fate in last if not fate.dropped)


def result_json(result: BuildResult) -> dict[str, Any]:
    """The result as `--json` prints it."""
    decisions = _decisions(result)
    return {
        "domain": result.domain,
        "steps": [step.summary() for step in result.steps],
        "coverage": dict(result.coverage),
        "accept": decisions["accept"],
        "review": decisions["review"],
        "stopped": result.stopped,
    }
