"""The result of a gate as Markdown, for a comment on a change."""

from __future__ import annotations

from caliper.adapters.exports.markdown import grid, plain
from caliper.adapters.phrases import dimensions, interval, number
from caliper.analysis.gate import Decision, GateFinding, GateResult

_WORDS = {
    Decision.PASSED: "**Passed.** A larger drop than each check allows is ruled out.",
    Decision.REGRESSION: "**Regression.** At least one figure dropped by more than allowed.",
    Decision.INCONCLUSIVE: "**Inconclusive.** It can neither be passed nor refused.",
}
_HEAD = ("Check", "Tier", "Finding", "Base", "Candidate", "Difference", "95% interval", "Allowed")


def gate_markdown(base: str, candidate: str, result: GateResult) -> str:
    """A heading, the decision, and one row per finding."""
    head, *rows = gate_rows(result)
    title = f"### {plain(candidate)} against {plain(base)}"
    return f"{title}\n\n{_WORDS[result.decision]}\n\n{grid(head, rows)}\n"


def gate_rows(result: GateResult) -> list[tuple[str, ...]]:
    """The heading of a table of the findings, and its rows."""
    return [_HEAD, *map(_row, result.findings)]


def _row(finding: GateFinding) -> tuple[str, ...]:
    difference = finding.difference
    over = "" if difference is None else dimensions(difference)
    explanation = ": ".join(
        filter(None, (str(finding.decision), "; ".join(filter(None, (finding.reason, over)))))
    )
    figures = [""] * 4
    if difference is not None:
        figures = [number(difference.first), number(difference.second), number(difference.value)]
        figures.append(interval(difference))
    allowed = "" if finding.margin is None else number(finding.margin)
    name = f"{finding.check.benchmark} {finding.figure}"
    return (name, str(finding.check.tier), explanation, *figures, allowed)
