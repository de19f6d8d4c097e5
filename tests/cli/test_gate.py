import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import tiny
from tests.fakes.command import Command, with_runs
from tests.fakes.sources import EXAMPLES
from tests.fakes.verdict_lines import keep_lines, verdict_lines

from caliper.analysis.compare import Difference
from caliper.analysis.gate import Check, Decision, GateFinding
from caliper.analysis.targets import FindingTarget
from caliper.benchmarks.base import Better
from caliper.core.errors import InvalidInput
from caliper.local.policy import read_policy
from caliper.pipeline.comparing.gate_decision import describe_target, on_these

CHECK = {"benchmark": "capability", "figure": "average.f1", "max_drop": 1.0}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with the runs careful, careless, and strict: the careful captions read strictly."""
    strict = ("careful", "--set", "reply_reading=strict")
    folder = tmp_path_factory.mktemp("gate")
    return with_runs(
        folder, with_media=True, careful=["careful"], careless=["careless"], strict=strict
    )


def policy(caliper: Command, *checks: dict[str, Any], **more: Any) -> str:
    (caliper.folder / "policy.yaml").write_text(yaml.safe_dump({"checks": checks, **more}))
    return "policy.yaml"


def test_a_better_checkpoint_passes_and_a_worse_one_is_stopped(ran: Command) -> None:
    flags = ("gate", "--policy", policy(ran, CHECK))
    passed = ran(*flags, "careless", "careful", code=0)
    assert passed.out.rstrip().endswith("passed")
    both = "for questions like these; passed for these questions"
    assert both in " ".join(passed.out.split())
    files = ("--markdown", "told.md", "--junit", "told.xml")
    stopped = ran(*flags, "careful", "careless", "--json", *files, code=1).told
    assert stopped["decision"] == "regression"
    quiet = ran(*flags, "careful", "careless", "--quiet", code=1)
    assert (quiet.out, quiet.err) == ("", "regression: CAPability: Average, F1\n")
    (finding,) = stopped["findings"]
    assert finding["difference"]["value"] == pytest.approx(-89.1, abs=0.1)
    assert (finding["target"], finding["on_these"]) == ("questions like these", "regression")
    failure = '<failure message="critical: regression for questions like these; re'
    assert failure in (ran.folder / "told.xml").read_text()
    told = (ran.folder / "told.md").read_text()
    assert told.startswith("### careless against careful\n\n**Regression.**")
    finding = "regression for questions like these; regression for these questions"
    assert f"| CAPability: Average, F1 | critical | {finding} | 100.00 | 10.93 |" in told


def test_a_small_drop_is_a_fact_about_these_questions_and_may_be_chance_elsewhere() -> None:
    difference = Difference(50.0, 49.5, -0.5, -2.0, 1.0)
    check = Check("capability", "average.f1", max_drop=0.4)
    finding = GateFinding(check, "average.f1", Decision.INCONCLUSIVE, difference, 0.4)
    assert on_these(finding) is Decision.REGRESSION
    assert on_these(replace(finding, margin=0.5)) is Decision.PASSED
    # For what is better when lower, it is a gain.
    assert on_these(replace(finding, better=Better.LESS)) is Decision.PASSED
    assert on_these(replace(finding, margin=None)) is None
    shown = "for questions like these; regression for these questions"
    assert describe_target(finding) == shown
    look = replace(finding, difference=None, target=FindingTarget.THESE)
    assert describe_target(look) == "for these questions"


def test_what_cannot_be_decided(ran: Command) -> None:
    many = {**CHECK, "min_pairs": 10_000}
    ended = ran("gate", "--policy", policy(ran, many), "careless", "careful", code=3)
    assert "68 pairs, fewer than 10000" in " ".join(ended.out.split())
    nowhere = {**CHECK, "figure": "average.smell"}
    ran("gate", "--policy", policy(ran, CHECK, nowhere), "careless", "careful", code=3)
    limited = ("--config", EXAMPLES / "careful.yaml", "--quiet", "--out", "runs/one")
    one = yaml.safe_load((EXAMPLES / "careful.yaml").read_text())["benchmarks"]["captionqa"]
    paths = {key: str(EXAMPLES / one[key]) for key in ("data", "captions", "media")}
    (ran.folder / "one.yaml").write_text(
        yaml.safe_dump({"name": "careful", "benchmarks": {"captionqa": paths}})
    )
    ran("evaluate", "--config", "one.yaml", *limited[2:], code=0)
    ended = ran("gate", "--policy", policy(ran, CHECK), "careless", "one", code=3)
    assert "the candidate has no capability" in " ".join(ended.out.split())


def test_runs_that_were_judged_otherwise_are_refused(ran: Command) -> None:
    for command in (("gate", "--policy", policy(ran, CHECK)), ("compare",)):
        ended = ran(*command, "careful", "strict", code=2)
        assert "setting reply_reading: lenient / strict" in ended.err
    ended = ran("compare", "careful", "strict", "--anyway", code=0)
    assert "Differs: capability setting reply_reading" in ended.err


def test_the_page_of_a_comparison(ran: Command) -> None:
    ran("compare", "careless", "careful", "--html", "compared.html", "--quiet", code=0)
    page = (ran.folder / "compared.html").read_text()
    (candidate,) = ran("compare", "careless", "careful", "--json", code=0).told["candidates"]
    told = candidate["flips"]
    assert f"{told['better']} verdicts got better" in page
    assert f"{told['worse']} verdicts got worse" in page
    assert "data:image/jpeg;base64," in page
    verdicts = (ran.folder / "runs" / "careful" / "verdicts.jsonl").read_text().splitlines()
    counts = [told[name] for name in ("better", "worse", "same", "unpaired")]
    assert sum(counts) == len(verdicts)
    assert len(told["listed"]) == min(100, counts[0]) + min(100, counts[1])
    few = ran("compare", "careless", "careful", "--json", "--flips", "2", code=0).told
    listed = few["candidates"][0]["flips"]["listed"]
    assert listed == [*told["listed"][:2], *told["listed"][min(100, counts[1]) :][:2]]


def test_several_candidates(ran: Command) -> None:
    command = ("compare", "careless", "careful", "strict", "careless")
    told = ran(*command, "--anyway", "--json", "--html", "all.html", code=0).told
    assert told["base"]["name"] == "careless"
    found = told["candidates"]
    assert [each["name"] for each in found] == ["careful", "careful", "careless"]
    assert [each["alike"] for each in found] == [True, False, True]
    assert found[2]["flips"]["better"] == 0
    shown = ran(*command, "--anyway", code=0)
    runs = [f"{each['name']} ({each['run']})" for each in (told["base"], *found)]
    assert f"Differs: {runs[2]}: capability setting reply_reading" in shown.err
    assert shown.out.count("Headline figures") == 3
    page = (ran.folder / "all.html").read_text()
    assert f"{', '.join(runs[1:])} against {runs[0]}" in page
    assert "Missing argument" in ran("compare", "careful", code=2).err


def test_a_run_that_was_cut_short_is_compared_as_partial_alone(ran: Command) -> None:
    whole = ran.folder / "runs" / "careful"
    short = ran.folder / "runs" / "short"
    shutil.copytree(whole, short)
    keep_lines(short, verdict_lines(short)[:99])
    ended = ran("compare", "careless", "short", code=2)
    assert "is running, not complete (coverage 0.0%)" in " ".join(ended.err.split())
    ended = ran("compare", "careless", "short", "--partial", code=0)
    assert "careful is running, not complete: coverage 0.00%." in ended.out
    told = ran("compare", "careless", "short", "--partial", "--json", code=0).told
    assert told["candidates"][0]["state"] == "running"
    assert set(told["candidates"][0]["coverage"]) == {"capability", "captionqa", "comprecap"}
    gated = ran("gate", "--policy", policy(ran, CHECK), "careless", "short", code=3)
    assert "the candidate is not complete" in " ".join(gated.out.split())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "1: checks: "),
        ("[{benchmark: smell, figure: f}]", "1: checks.0.benchmark: unknown benchmark 'smell'"),
        ("[{benchmark: capability, figure: f, max_drop: -1}]", "1: checks.0.max_drop: "),
        (
            "[{benchmark: capability, figure: f, max_drop: yes}]",
            "1: checks.0.max_drop: expected a number, found true",
        ),
        ("[{benchmark: capability, figure: f, tier: vital}]", "1: checks.0.tier: "),
        ("[{benchmark: capability, figure: f}]\nlevel: 0.9", "2: level: "),
        (
            "\n  - benchmark: capability\n    figure: f\n    max_drops: 1",
            "4: checks.0.max_drops: unknown key; known: benchmark, figure,",
        ),
    ],
)
def test_a_wrong_policy_names_file_line_and_field(tmp_path: Path, text: str, told: str) -> None:
    path = tiny.text(tmp_path / "policy.yaml", f"checks: {text}\n")
    with pytest.raises(InvalidInput) as caught:
        read_policy(path)
    assert str(caught.value).startswith(f"{path}:{told}")
