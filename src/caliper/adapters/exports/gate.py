"""The result of a gate as Markdown, for a comment on a change, and as JUnit XML, for CI."""

from __future__ import annotations

from collections.abc import Iterator

from caliper.adapters.exports.junit import JunitCase, JunitSuite, junit_text
from caliper.adapters.exports.markdown import grid, plain
from caliper.adapters.phrases import basis, checked_figure, interval, number
from caliper.analysis.gate import Decision, GateFinding, GateResult, Tier
from caliper.pipeline.comparing.gate_decision import describe_target

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
    over = "" if difference is None else basis(difference)
    explanation = f"{finding.decision} {describe_target(finding)}"
    explanation = ": ".join(
        filter(None, (explanation, "; ".join(filter(None, (finding.reason, over)))))
    )
    figures = [""] * 4
    if difference is not None:
        figures = [number(difference.first), number(difference.second), number(difference.value)]
        figures.append(interval(difference))
    allowed = "" if finding.margin is None else number(finding.margin)
    name = checked_figure(finding.check.benchmark, finding.figure)
    return (name, str(finding.check.tier), explanation, *figures, allowed)


def gate_junit(base: str, candidate: str, result: GateResult) -> str:
    """A suite per benchmark with a case per finding, and the decision as a case of its own.

    Findings that do not pass the gate fail, or err if it is inconclusive; those that are only
    inconclusive or advisory beside it are skipped.
    """
    title = f"{candidate} against {base}"
    suites = [JunitSuite(f"{title}.gate", (_decision_case(result),))]
    for name in dict.fromkeys(finding.check.benchmark for finding in result.findings):
        own = (each for each in result.findings if each.check.benchmark == name)
        suites.append(JunitSuite(f"{title}.{name}", tuple(map(_case, own))))
    return junit_text(suites)


def _decision_case(result: GateResult) -> JunitCase:
    text = _WORDS[result.decision].replace("*", "")
    return _judged("decision", result.decision, text, is_critical=True)


def _case(finding: GateFinding) -> JunitCase:
    text = "; ".join(_facts(finding))
    tier, decision = finding.check.tier, finding.decision
    if tier is Tier.ADVISORY and decision is Decision.REGRESSION:
        return JunitCase(finding.figure, "skipped", message=f"advisory: {text}")
    return _judged(finding.figure, decision, text, is_critical=tier is Tier.CRITICAL)


def _judged(name: str, decision: Decision, text: str, *, is_critical: bool) -> JunitCase:
    if decision is Decision.PASSED:
        return JunitCase(name, output=text)
    if decision is Decision.REGRESSION:
        return JunitCase(name, "failure", str(decision), text)
    return JunitCase(name, "error" if is_critical else "skipped", str(decision), text)


def _facts(finding: GateFinding) -> Iterator[str]:
    _, tier, explanation, *values, allowed = _row(finding)
    yield f"{tier}: {explanation}"
    for name, value in zip(_HEAD[3:], (*values, allowed), strict=True):
        if value:
            yield f"{name.lower()} {value}"
