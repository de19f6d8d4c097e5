"""The published tables, recomputed with the functions that reports use."""

from __future__ import annotations

import pytest
from tests.fakes.kt_bar import kt_bar_bounds
from tests.fakes.sources import published

from caliper.benchmarks.capability.metrics import f1, mean
from caliper.benchmarks.capability.tasks import NAMES

SCORES = published("capability_tables_3_4_5.csv")
QA = published("capability_table_6.csv")


def columns(row: dict[str, str]) -> dict[str, float]:
    return {name: float(row[name]) for name in NAMES}


def of_metric(rows: list[dict[str, str]], metric: str) -> dict[str, dict[str, float]]:
    return {row["model"]: columns(row) for row in rows if row["metric"] == metric}


def test_the_columns_stand_in_the_order_of_the_paper() -> None:
    assert [name for name in SCORES[0] if name not in ("table", "metric", "model", "avg")] == [
        *NAMES
    ]
    assert len(SCORES) == 52
    assert len(QA) == 14


@pytest.mark.parametrize(
    "row", SCORES + QA, ids=lambda row: f"{row.get('table', '6')}-{row['metric']}-{row['model']}"
)
def test_every_average_is_the_plain_mean_of_its_columns(row: dict[str, str]) -> None:
    average = mean(columns(row).values())
    assert average is not None
    assert abs(average - float(row["avg"])) <= 0.06


def test_every_f1_follows_from_precision_and_recall_but_for_one_misprint() -> None:
    precision, recall = of_metric(SCORES, "precision"), of_metric(SCORES, "recall")
    printed = of_metric(SCORES, "f1")
    assert len(printed) == 13
    off = []
    for model, cells in printed.items():
        for task, cell in cells.items():
            computed = f1(precision[model][task], recall[model][task])
            assert computed is not None
            # The cells are rounded to 0.1, and so may the last digit of their F1 be.
            if abs(computed - cell) > 0.1 + 1e-9:
                off.append((model, task, precision[model][task]))
    assert off == [("Qwen2VL-72B", "style", 82.9)]


def test_every_kt_bar_is_possible_but_for_the_two_swapped_cells() -> None:
    accuracy, printed = of_metric(QA, "qa_accuracy"), of_metric(QA, "kt")
    recall = of_metric(SCORES, "recall")
    assert len(printed) == 7
    off = []
    for model, cells in printed.items():
        for task, cell in cells.items():
            least, greatest = kt_bar_bounds(accuracy[model][task], recall[model][task])
            if not least <= cell <= greatest:
                off.append((model, task, cell))
    model = "InternVL2.5-78B"
    assert off == [(model, "style", 47.0), (model, "character_identification", 8.2)]
    swapped = printed[model] | {"style": 8.2, "character_identification": 47.0}
    for task, cell in swapped.items():
        least, greatest = kt_bar_bounds(accuracy[model][task], recall[model][task])
        assert least <= cell <= greatest
