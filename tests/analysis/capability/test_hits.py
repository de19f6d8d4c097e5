"""Precision against hit rate of paper 4.2: Tables 3 to 5, recomputed cell by cell."""

from collections.abc import Mapping

import pytest
from tests.fakes.sources import published
from tests.fakes.verdict_sets import (
    elements,
    judged,
    of_sums,
    sums_of,
    verdict_set,
)

from caliper.analysis.capability.hits import PrecisionAgainstHits, precision_against_hits
from caliper.analysis.capability.verdict_sets import METRICS
from caliper.benchmarks.capability.tasks import NAMES

ALL = 100_000
"""Elements of a task, so that a rounded percentage is a whole number of them."""
PRINTED = {(row["metric"], row["model"]): row for row in published("capability_tables_3_4_5.csv")}
MODELS = [model for metric, model in PRINTED if metric == "hit_rate"]


def cell(metric: str, model: str, task: str) -> float:
    return float(PRINTED[metric, model]["avg" if task == "average" else task])


def sums(precision: float, hit_rate: float) -> Mapping[str, int]:
    hit = round(hit_rate * ALL / 100)
    return {"scored": ALL, "hit": hit, "correct": round(hit * precision / 100), "unscored": 0}


@pytest.fixture(scope="module")
def tables() -> PrecisionAgainstHits:
    """All 13 models, from the precision of Tables 3 and 4 and the hit rate of Table 5 alone."""
    runs = [
        of_sums(
            model,
            sums_of(
                {
                    f"caption/{task}/0": sums(*(cell(name, model, task) for name in
                                                ("precision", "hit_rate")))
                    for task in NAMES
                }
            ),
        )
        for model in MODELS
    ]  # fmt: skip
    return precision_against_hits(verdict_set(*runs, asked=elements(1, NAMES)))


def test_all_cells_follow_from_precision_and_hit_rate(tables: PrecisionAgainstHits) -> None:
    """4 metrics of 13 models in 13 columns and their mean: 728 cells, two of them misprints."""
    off = []
    for run in tables.runs:
        assert list(run.tasks) == [*NAMES, "average"]
        for task, metrics in run.tasks.items():
            for metric in METRICS:
                # Cells are rounded; a product of two is off by half a digit of each and its own.
                allowed = 0.151 if metric in ("recall", "f1") else 0.051
                value = metrics[metric].value
                assert value is not None
                if abs(value - cell(metric, run.name, task)) > max(
                    allowed, 0.101 * (task == "average")
                ):
                    off.append((run.name, task, metric))
    assert off == [("Qwen2VL-72B", "style", "recall"), ("Qwen2VL-72B", "style", "f1")]


def test_what_the_text_prints(tables: PrecisionAgainstHits) -> None:
    """4.2: who leads in Table 3, and by how much."""
    large = {model for metric, model in PRINTED if PRINTED[metric, model]["table"] == "3"}
    found = {run.name: run.tasks for run in tables.runs if run.name in large}

    def lead(task: str, metric: str) -> tuple[str, float]:
        values = {name: float(tasks[task][metric].value or 0) for name, tasks in found.items()}
        first, second, *_ = sorted(values, key=lambda name: -values[name])
        return first, values[first] - values[second]

    for task, metric, model, by in (
        ("average", "recall", "Gemini-1.5-pro", 3.9),
        ("object_number", "f1", "Gemini-1.5-pro", 7.4),
        ("dynamic_object_number", "f1", "Gemini-1.5-pro", 16.4),
        ("camera_angle", "f1", "GPT-4o (0806)", 9.6),
    ):
        assert lead(task, metric) == (model, pytest.approx(by, abs=0.15))
    assert found["Gemini-2.0-flash"]["average"]["precision"].value == pytest.approx(79.3, abs=0.06)


def test_ranking_and_correlation(tables: PrecisionAgainstHits) -> None:
    assert tables.ranking is not None
    places = {each.name: (each.place_before, each.place_after) for each in tables.ranking.changes}
    # The most precise models mention much, but the one that mentions most is only third.
    assert places["Gemini-2.0-flash"][0] == 1
    assert places["Gemini-1.5-pro"] == (3, 1)
    by_task = {each.task: each for each in tables.correlations}
    assert by_task["average"].runs == 13
    # Who names more characters is more often wrong about them; else both grow with the model.
    assert by_task["character_identification"].spearman.value == pytest.approx(-0.70, abs=0.01)
    assert by_task["average"].spearman.value == pytest.approx(0.65, abs=0.01)
    assert by_task["average"].pearson.low is not None


def test_unscored_verdicts_are_left_out_and_counted() -> None:
    found = precision_against_hits(verdict_set(judged("a", "RRWS--"), judged("b", "RSSS-R")))
    first, second = found.runs
    metrics = {name: each.value for name, each in first.tasks["scene"].items()}
    assert metrics == pytest.approx(
        {"precision": 200 / 3, "recall": 50, "f1": 400 / 7, "hit_rate": 75}, abs=1e-5
    )
    assert first.tasks["scene"]["hit_rate"].low is not None
    assert (first.unscored, second.unscored) == (2, 1)
    assert (first.wrong, first.not_mentioned) == (25, 25)


def test_one_run_has_metrics_and_a_remark() -> None:
    found = precision_against_hits(verdict_set(judged("a", "RW")))
    assert len(found.runs) == 1
    assert found.ranking is None
    assert "two or more runs" in found.remark


def test_averages_are_compared_over_the_tasks_that_all_runs_have() -> None:
    both = elements(4, ("scene", "event"))
    # Over all it has, b would lead with 75: the harder task is not judged yet.
    runs = [judged("a", "RRRRSSSS", asked=both), judged("b", "RRRS----", asked=both)]
    found = precision_against_hits(verdict_set(*runs, asked=both))
    assert [run.tasks["average"]["recall"].value for run in found.runs] == [100, 75]
    assert "averages are without event" in found.remark
