"""Sweeps over frames and resolution."""

from fractions import Fraction

import pytest
from tests.fakes.verdict_sets import elements, judged, verdict_set

from caliper.analysis.capability.preparation_sweeps import PreparationSweep, preparation_sweeps
from caliper.analysis.capability.verdict_sets import JudgedRun
from caliper.core.preparation import Preparation

BOTH = elements(4, ("scene", "event"))


def prepared(verdicts: str, name: str = "m", **settings: object) -> JudgedRun:
    named = ", ".join((name, *(f"{field} {value}" for field, value in settings.items())))
    return judged(named, verdicts, asked=BOTH, preparation=Preparation.of(settings))


def sweeps(*runs: JudgedRun) -> tuple[PreparationSweep, ...]:
    return preparation_sweeps(verdict_set(*runs, asked=BOTH)).sweeps


def test_frames_are_swept_in_order_over_clips() -> None:
    (found,) = sweeps(
        prepared("SSSSRRRR", frames=32),
        prepared("RRRRRSSS", frames=8),
        prepared("RRRRRRWS", frames=16),
        prepared("RRRRRRRR", "other", frames=16),
    )
    assert (found.model, found.field, found.tasks, found.best) == ("m", "frames", ("event",), 32)
    assert [point.value for point in found.points] == [8, 16, 32]
    recalls = [point.metrics["recall"].value for point in found.points]
    assert recalls == [25, 50, 100]
    first, second, third = found.points
    assert first.change is None
    assert second.change is not None
    assert second.change.value == pytest.approx(
        (second.metrics["f1"].value or 0) - (first.metrics["f1"].value or 0), abs=1e-5
    )
    assert third.change is not None
    assert third.change.low is not None
    assert list(third.tasks) == ["event"]
    assert found.fixed["longest"] == "1024"
    assert "frames" not in found.fixed


def test_resolution_is_swept_over_all_tasks() -> None:
    (found,) = sweeps(prepared("RRRRRRRR", longest=512), prepared("SSSSRRRR", longest=256))
    assert found.tasks == ("scene", "event")
    assert [point.metrics["recall"].value for point in found.points] == [50, 100]
    assert found.best == 512


def test_each_field_has_its_sweep_and_the_rest_is_fixed() -> None:
    found = sweeps(
        prepared("RRRRRRRR", frames=8, longest=512),
        prepared("RRRRRRRR", frames=16, longest=512),
        prepared("RRRRRRRR", frames=8, longest=256),
        prepared("RRRRRRRR", frames=64, fps=Fraction(1), longest=256),
        prepared("RRRRRRRR", frames=64, fps=Fraction(2), longest=256),
    )
    fields = [(each.field, [point.value for point in each.points]) for each in found]
    assert fields == [("frames", [8, 16]), ("fps", [1, 2]), ("longest", [256, 512])]
    # Of equal scores the cheapest is the best.
    assert [each.best for each in found] == [8, 1, 256]


def test_runs_that_differ_in_more_are_no_sweep() -> None:
    runs = (
        prepared("RRRRRRRR", frames=8, longest=512),
        prepared("RRRRRRRR", frames=16, longest=256),
        judged("supplied", "RRRRRRRR", asked=BOTH),
    )
    found = preparation_sweeps(verdict_set(*runs, asked=BOTH))
    assert found.sweeps == ()
    assert "--preparation" in found.remark


def test_a_sweep_is_over_the_tasks_that_all_its_runs_scored() -> None:
    (found,) = sweeps(prepared("RRRR----", longest=256), prepared("RRRRSSSS", longest=512))
    assert found.tasks == ("scene",)
    assert [point.metrics["recall"].value for point in found.points] == [100, 100]


def test_no_run_of_a_sweep_is_dropped() -> None:
    again = prepared("RRRRRRRS", "m, replicate 1", longest=256)
    (found,) = sweeps(prepared("RRRRSSSS", longest=256), again, prepared("RRRRRRRR", longest=512))
    assert [point.value for point in found.points] == [256, 256, 512]
    assert found.points[1].name.startswith("m, replicate 1")
    # Replicates alone are no sweep.
    assert sweeps(prepared("RRRRSSSS", longest=256), again) == ()
