from dataclasses import replace
from typing import Any

import pytest

from caliper.analysis.comparability import (
    Distinction,
    check_comparable,
    describe,
    incomparable,
    setup_differences,
)
from caliper.core.errors import NotComparable
from caliper.core.report import BenchmarkReport, Coverage, Report
from caliper.core.run import Identity, recorded_identity


def report(
    judge: str = "tgi",
    weights: str = "text",
    spec: dict[str, Any] | None = None,
    name: str = "capability",
) -> Report:
    benchmark = BenchmarkReport(
        name, name, ("f1",), {}, (), Coverage(1, 1), {"weights": weights}, {"judge": judge}
    )
    return Report("run", "complete", (benchmark,), spec or {})


def test_another_judge_setting_and_pack_are_said() -> None:
    first = report(spec={"captions": "a", "pack": {"digest": "1", "name": "caliper"}, "seed": 0})
    second = report("lexical", "table2", {"captions": "b", "pack": {"digest": "2"}, "seed": 0})
    assert setup_differences(first, second) == (
        Distinction("capability", "model", "judge", "tgi", "lexical"),
        Distinction("capability", "setting", "weights", "text", "table2"),
        Distinction("", "spec", "pack.digest", "1", "2"),
        Distinction("", "spec", "pack.name", "caliper", "(none)"),
    )


def test_a_benchmark_that_one_run_lacks_is_said() -> None:
    assert setup_differences(report(), report(name="captionqa")) == (
        Distinction("capability", "benchmark", "capability", "evaluated", "(none)"),
        Distinction("captionqa", "benchmark", "captionqa", "(none)", "evaluated"),
    )


def test_like_runs_differ_in_nothing() -> None:
    assert setup_differences(report(), report()) == ()


def test_settings_are_told_as_files_write_them() -> None:
    first, second = report(spec={"limit": None}), report(spec={"limit": 10})
    assert setup_differences(first, second) == (Distinction("", "spec", "limit", "null", "10"),)


def test_what_is_of_the_checkpoint_keeps_nobody_apart() -> None:
    first = report(spec={"name": "a", "captions": {"capability": "1"}, "coverage_floor": 0.9})
    second = report(spec={"name": "b", "captions": {"capability": "2"}, "coverage_floor": 0.5})
    captioned = replace(
        second, benchmarks=(replace(second.benchmarks[0], models={"judge": "tgi", "media": "m"}),)
    )
    found = setup_differences(first, captioned)
    assert [each.name for each in found] == ["media", "coverage_floor"]
    check_comparable(found)


def test_how_captions_were_written_keeps_supplied_ones_not_apart() -> None:
    def written(**settings: str) -> Report:
        one = report(spec={"qa_data": {"capability": "1"}} if settings else {})
        return replace(one, benchmarks=(replace(one.benchmarks[0], settings=settings),))

    first = written(caption_tokens="512", frames="8, evenly")
    assert len(setup_differences(first, written())) == 3
    assert incomparable(setup_differences(first, written())) == ()
    other = written(caption_tokens="512", frames="16, evenly")
    (frames,) = incomparable(setup_differences(first, other))
    assert frames.name == "frames"


def test_a_benchmark_that_one_run_alone_has_keeps_nobody_apart() -> None:
    first = report(spec={"data": {"capability": "1"}})
    second = report(name="captionqa", spec={"data": {"captionqa": "2"}})
    found = setup_differences(first, second)
    assert len(found) == 4
    assert incomparable(found) == ()


def test_a_refusal_names_what_differs_within_bounds() -> None:
    many = [Distinction("capability", "setting", f"s{n}", "a" * 1000, "b") for n in range(12)]
    with pytest.raises(NotComparable) as caught:
        check_comparable(many)
    assert "capability setting s0: aaaa" in str(caught.value)
    assert "and 2 more" in str(caught.value)
    assert caught.value.reasons[0] == ("setting", "capability setting s0", f"{'a' * 80}... / b")
    assert len(caught.value.reasons) == 10
    assert len(str(caught.value)) < 2000
    assert describe(many[0]).endswith("a / b")


def test_recorded_replies_are_those_of_the_model_that_is_named() -> None:
    """One folder of replies a checkpoint is one judge; without a name nobody knows."""
    first, second = (recorded_identity(digit * 64, "gpt-4-turbo").label for digit in "ab")
    assert first != second
    assert setup_differences(report(first), report(second)) == ()
    other = recorded_identity("a" * 64, "gpt-4o").label
    assert incomparable(setup_differences(report(first), report(other))) == (
        Distinction("capability", "model", "judge", "gpt-4-turbo (replay)", "gpt-4o (replay)"),
    )
    unnamed = [recorded_identity(digit * 64).label for digit in "ab"]
    assert len(incomparable(setup_differences(*map(report, unnamed)))) == 1
    # The model itself may reply otherwise today than it did then.
    live = Identity("tgi", "gpt-4-turbo", "a" * 64).label
    assert len(incomparable(setup_differences(report(first), report(live)))) == 1
