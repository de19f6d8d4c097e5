"""JUnit XML, read back by a parser of CI tools."""

from dataclasses import replace
from pathlib import Path

import pytest
from junitparser import JUnitXml
from tests.fakes import reports
from tests.fakes.results import results

from caliper.adapters.exports.gate import gate_junit
from caliper.adapters.exports.sinks.junit import JunitSink
from caliper.analysis.compare import Difference
from caliper.analysis.gate import Check, Decision, GateFinding, GateResult, Tier
from caliper.core.report import Coverage, Estimate, Report
from caliper.core.suspicion import Suspicious

Cases = dict[tuple[str, str], tuple[str, str]]


def read(text: str) -> Cases:
    """By suite and case: the element that says that it did not pass, and its message."""
    found = {}
    for suite in JUnitXml.fromstring(text):
        cases = list(suite)
        assert (suite.tests, suite.errors, suite.failures, suite.skipped) == (
            len(cases),
            *(
                sum(kind in seen(case) for case in cases)
                for kind in ("Error", "Failure", "Skipped")
            ),
        )
        for case in cases:
            kind, message = ([*seen(case).items(), ("passed", case.system_out or "")])[0]
            found[suite.name, case.name] = (kind, message)
    return found


def seen(case: object) -> dict[str, str]:
    return {type(each).__name__: each.message for each in case.result}


def exported(report: Report, folder: Path) -> Cases:
    path = Path(JunitSink(str(folder)).write(results(report)))
    assert path == folder / "caliper-0123456789abcdef.xml"
    return read(path.read_text("utf-8"))


def test_coverage_and_headline_of_each_benchmark(tmp_path: Path) -> None:
    assert exported(reports.report(name="a\ud800"), tmp_path) == {
        ("a\ufffd.CAPability", "coverage"): (
            "passed",
            "596 of 600 questions scored (99.33%, 99.00% needed)",
        ),
        ("a\ufffd.CAPability", "unscored: bad_ground_truth"): (
            "Skipped",
            "questions without a score: 10",
        ),
        ("a\ufffd.CAPability", "unscored: unreadable"): (
            "Skipped",
            "questions without a score: 3",
        ),
        ("a\ufffd.CAPability", "unscored: timeout"): (
            "Skipped",
            "questions without a score: 1",
        ),
        ("a\ufffd.CAPability", "average, F1"): ("passed", "61.50 (58.25 to 64.12)"),
        ("a\ufffd.CaptionQA", "coverage"): (
            "passed",
            "400 of 400 questions scored (100.00%, 99.00% needed)",
        ),
        ("a\ufffd.CaptionQA", "Overall, score"): ("passed", "71.25 (69.50 to 73.00)"),
    }


def test_what_is_not_to_be_trusted_fails(tmp_path: Path) -> None:
    whole = reports.report("finished", "x")
    part = replace(
        whole.benchmarks[1],
        coverage=Coverage(400, 300, {"backend": 100}),
        suspicious=Suspicious(200, 250, {"list": 200}, stuffed=200),
        estimates={("overall", "score"): Estimate(None)},
    )
    found = exported(replace(whole, benchmarks=(part,)), tmp_path)
    kinds = {name: kind for (_, name), (kind, _) in found.items()}
    assert kinds == {
        "coverage": "Failure",
        "unscored: backend": "Skipped",
        "captions": "Failure",
        "Overall, score": "Error",
    }
    assert found["x.CaptionQA", "coverage"][1].startswith("300 of 400 questions scored (75.00%")


DROP = Difference(80.0, 70.0, -10.0, -12.0, -8.0, "jackknife", 50, 50)


def finding(decision: Decision, tier: Tier = Tier.CRITICAL) -> GateFinding:
    check = Check("capability", "average.f1", tier)
    return GateFinding(check, f"average.{tier}", decision, DROP, 1.0, "")


@pytest.mark.parametrize(
    ("decision", "findings", "kinds"),
    [
        (Decision.PASSED, [finding(Decision.PASSED)], ["passed", "passed"]),
        (Decision.REGRESSION, [finding(Decision.REGRESSION)], ["Failure", "Failure"]),
        (Decision.INCONCLUSIVE, [finding(Decision.INCONCLUSIVE)], ["Error", "Error"]),
        (
            Decision.PASSED,
            [
                finding(Decision.PASSED),
                finding(Decision.INCONCLUSIVE, Tier.SUPPORTING),
                finding(Decision.REGRESSION, Tier.ADVISORY),
            ],
            ["passed", "passed", "Skipped", "Skipped"],
        ),
        # Nothing but the decision says that a critical check is missing.
        (
            Decision.INCONCLUSIVE,
            [finding(Decision.PASSED, Tier.SUPPORTING)],
            ["Error", "passed"],
        ),
    ],
)
def test_the_findings_of_a_gate(
    decision: Decision, findings: list[GateFinding], kinds: list[str]
) -> None:
    found = read(gate_junit("old", "new", GateResult(decision, tuple(findings))))
    assert [kind for kind, _ in found.values()] == kinds
    assert next(iter(found)) == ("new against old.gate", "decision")
    regression = found.get(("new against old.capability", "average.critical"), ("", ""))
    if regression[0] == "Failure":
        assert regression[1] == (
            "critical: regression for questions like these; regression for these questions; "
            "base 80.00; candidate 70.00; difference \u221210.00; "
            "95% interval \u221212.00 to \u22128.00; allowed 1.00"
        )
