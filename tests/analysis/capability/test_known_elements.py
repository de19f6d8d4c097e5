"""KT-bar of equation 4: Table 6, recomputed cell by cell."""

import numpy as np
import pytest
from tests.fakes.sources import published
from tests.fakes.verdict_sets import elements, judged, sums_of, verdict_set

from caliper.analysis.capability.known_elements import KnowledgeGap, knowledge_gap
from caliper.analysis.capability.verdict_sets import JudgedRun, MediaAnswers
from caliper.benchmarks.capability.tasks import NAMES

EACH = 1000
"""Elements of a task, so that a printed percentage is a whole number of them."""
CELLS = {(row["metric"], row["model"]): row for row in published("capability_table_6.csv")}
RECALL = {
    row["model"]: row
    for row in published("capability_tables_3_4_5.csv")
    if row["metric"] == "recall"
}
MODELS = [model for metric, model in CELLS if metric == "kt"]
# Printed in each other's place: as printed, both are impossible.
SWAPPED = {
    ("InternVL2.5-78B", "style"): "character_identification",
    ("InternVL2.5-78B", "character_identification"): "style",
}


def printed(model: str, task: str) -> tuple[float, float, float]:
    """QA accuracy, KT-bar and recall."""
    row = CELLS["kt", model][SWAPPED.get((model, task), task)]
    return float(CELLS["qa_accuracy", model][task]), float(row), float(RECALL[model][task])


def published_run(model: str) -> JudgedRun:
    known, scores, cells = [], [], {}
    for task in NAMES:
        accuracy, untold, recall = (round(EACH * each / 100) for each in printed(model, task))
        silent = round(accuracy * untold / EACH)
        told = accuracy - silent
        guessed = max(0, recall - told)
        known += [1] * accuracy + [0] * (EACH - accuracy)
        scores += [0] * silent + [1] * (told + guessed) + [0] * (EACH - silent - told - guessed)
        cells[f"qa/{task}/0"] = {"scored": EACH, "hit": accuracy, "correct": accuracy}
        cells[f"kt/{task}/0"] = {"known": accuracy, "untold": silent}
    return JudgedRun(
        model,
        model,
        np.array([scores], dtype=np.float64),
        sums_of(cells),
        MediaAnswers(np.ones(len(known), dtype=np.bool_), np.array(known, dtype=np.float64)),
    )


@pytest.fixture(scope="module")
def table_6() -> KnowledgeGap:
    runs = [published_run(model) for model in MODELS]
    return knowledge_gap(verdict_set(*runs, asked=elements(EACH, NAMES)))


def test_all_cells_of_table_6(table_6: KnowledgeGap) -> None:
    """91 cells of each figure, and the averages."""
    assert len(table_6.runs) == 7
    for run in table_6.runs:
        *tasks, average = run.tasks
        for each in tasks:
            accuracy, untold, recall = printed(run.name, each.task)
            assert each.qa_accuracy.value == pytest.approx(accuracy, abs=0.051)
            # One of 157 known elements, the fewest, is 0.64 points.
            assert each.kt_bar.value == pytest.approx(untold, abs=50 / accuracy * 0.1 + 0.3)
            known = each.told + each.wrong + each.silent
            assert 100 * each.silent / known == pytest.approx(each.kt_bar.value, abs=1e-6)
            # What is told, known or guessed, is the recall of Table 3: every cell is possible.
            stated = 100 * (each.told + each.guessed) / EACH
            assert stated == pytest.approx(recall, abs=0.16)
            assert known + each.guessed + each.unknown == EACH
        for figure, metric in ((average.qa_accuracy, "qa_accuracy"), (average.kt_bar, "kt")):
            assert figure.value == pytest.approx(float(CELLS[metric, run.name]["avg"]), abs=0.09)


def test_what_the_text_says_of_table_6(table_6: KnowledgeGap) -> None:
    """4.2: QA accuracy hardly differs, KT-bar varies a lot, Gemini-1.5-pro has the smallest.

    The text says 25.7, the table 25.2.
    """
    assert table_6.accuracy_range == pytest.approx(70.5 - 66.9, abs=0.1)
    assert table_6.kt_range == pytest.approx(42.6 - 25.2, abs=0.1)
    averages = {run.name: float(run.tasks[-1].kt_bar.value or 0) for run in table_6.runs}
    assert min(averages, key=lambda name: averages[name]) == "Gemini-1.5-pro"
    assert {name for name, value in averages.items() if value > 40} == {
        "LLaVA-OV-72B",
        "Qwen2VL-72B",
        "InternVL2.5-78B",
    }
    assert table_6.ranking is not None
    places = {each.name: (each.place_before, each.place_after) for each in table_6.ranking.changes}
    assert places["Qwen2VL-72B"] == (4, 7)


def test_only_elements_with_both_scores_count() -> None:
    run = judged("a", "RWSR-RSSR", known="1110110-.")
    (found,) = knowledge_gap(verdict_set(run, judged("b", "RRRRRRRRR"))).runs
    scene, average = found.tasks
    counts = (scene.told, scene.wrong, scene.silent, scene.guessed, scene.unknown, scene.unscored)
    assert counts == (2, 1, 1, 1, 1, 2)
    assert scene.kt_bar.value == average.kt_bar.value == 50
    assert scene.qa_accuracy.value == pytest.approx(500 / 7, abs=1e-5)
    assert scene.kt_bar.low is not None


def test_nobody_was_asked() -> None:
    found = knowledge_gap(verdict_set(judged("a", "RW")))
    assert found.runs == ()
    assert "--qa" in found.remark
