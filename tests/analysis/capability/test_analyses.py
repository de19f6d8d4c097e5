"""All analyses together, where there is little to analyse."""

import json
from dataclasses import asdict

import pytest
from tests.fakes.verdict_sets import judged, verdict_set

from caliper.analysis.capability.analyses import NAMES, analyse_verdicts
from caliper.analysis.capability.verdict_sets import VerdictSet
from caliper.core.preparation import Preparation

PREPARED = [
    judged(f"m, {each.frames}", "----", known="1-01", words=(3, 4, 5, 6), preparation=each)
    for each in (Preparation(), Preparation(frames=16))
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "verdicts",
    [
        verdict_set(judged("a", "----", known="----", words=(1, 2, 3, 4)), judged("b", "----")),
        verdict_set(judged("a", "R", known="1"), judged("b", "-")),
        verdict_set(judged("a", "-", "R", known="0"), judged("b", "S", "-")),
        verdict_set(*PREPARED),
    ],
)
def test_nothing_is_made_up(verdicts: VerdictSet) -> None:
    found = analyse_verdicts(verdicts, {("seed: 0 / 1",): verdicts})
    json.dumps(asdict(found), allow_nan=False)
    assert [getattr(found, name) is not None for name in NAMES] == [True] * 5


def test_runs_without_scores_have_no_figures() -> None:
    found = analyse_verdicts(verdict_set(*PREPARED), {})
    assert found.hits is not None
    assert found.hits.runs[0].tasks["scene"]["f1"].value is None
    assert (found.hits.runs[0].unscored, found.hits.runs[0].wrong) == (4, None)
    assert found.sweeps is not None
    assert found.sweeps.sweeps[0].best is None
    assert found.length is not None
    assert found.length.runs[0].quarters == ()


def test_only_what_was_chosen() -> None:
    found = analyse_verdicts(verdict_set(judged("a", "RW")), {}, ("kt_bar",))
    assert found.runs == ("a",)
    assert found.kt_bar is not None
    assert found.hits is found.judging is found.sweeps is found.length is None
