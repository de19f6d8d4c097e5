from __future__ import annotations

from fractions import Fraction

import pytest
from tests.fakes.judged_tasks import FAILED, judged, layout, once, scored, values

from caliper.benchmarks.capability.benchmark import BENCHMARK
from caliper.benchmarks.capability.tasks import NAMES
from caliper.core.outcome import Outcome, Scored
from caliper.core.report import Kind
from caliper.core.tally import Tally


def test_the_four_figures_of_a_task_over_its_scored_questions() -> None:
    found = values(BENCHMARK.reduce(judged("event", once(1, 1, -1, 0, 0, None)), {}))
    figures = {path[2]: value for path, value in found.items() if path[:2] == ("tasks", "event")}
    assert figures == pytest.approx(
        {
            "precision": 200 / 3,
            "recall": 40.0,
            "f1": 2 * (200 / 3) * 40 / (200 / 3 + 40),
            "hit_rate": 60.0,
            "n_scored": 5,
            "n_unscored": 1,
        }
    )


def labelled(*outcomes: tuple[int, int]) -> list[list[Outcome]]:
    return [[Scored(Fraction(score), labels=labels)] for score, labels in outcomes]


def test_labels_per_caption_and_the_score_of_exactly_one() -> None:
    tally = BENCHMARK.reduce(judged("style", labelled((1, 1), (1, 9), (-1, 2), (0, 0))), {})
    found = values(tally)
    assert found["tasks", "style", "labels"] == 4.0
    assert found["tasks", "style", "f1"] == pytest.approx(2 * (200 / 3) * 50 / (200 / 3 + 50))
    assert found["tasks", "style", "f1_one"] == pytest.approx(2 * (100 / 3) * 25 / (100 / 3 + 25))
    assert ("average", "labels") not in found
    table = BENCHMARK.report(tally, {}).tables[1]
    assert table.columns == ("Labels per caption", "F1", "F1, one label")
    assert [row.label for row in table.rows] == ["Style"]
    (alone,) = (
        table.columns
        for table in BENCHMARK.report(tally, {"category_labels": "one"}).tables
        if table.title == "Labels stated in the category tasks"
    )
    assert alone == ("Labels per caption", "F1")


def test_verdicts_that_do_not_say_how_many_labels_have_no_such_figures() -> None:
    before = judged("style", once(1, -1, 0))
    assert not {"labels", "f1_one"} & {path[-1] for path in values(BENCHMARK.reduce(before, {}))}
    mixed = judged("style", [*labelled((1, 2)), *once(1, 0)])
    assert values(BENCHMARK.reduce(mixed, {}))["tasks", "style", "f1_one"] is None


def test_nothing_mentioned_is_a_precision_and_f1_of_zero() -> None:
    found = values(BENCHMARK.reduce(judged("scene", once(0, 0)), {}))
    for name in ("precision", "recall", "f1", "hit_rate"):
        assert found["tasks", "scene", name] == 0


def test_nothing_scored_is_no_data() -> None:
    tally = BENCHMARK.reduce(judged("scene", once(None, None)), {})
    found = values(tally)
    for name in ("precision", "recall", "f1", "hit_rate"):
        assert found["tasks", "scene", name] is None
        assert found["average", name] is None
    assert found["tasks", "scene", "n_unscored"] == 2


def test_the_average_is_the_plain_mean_of_the_columns_with_data() -> None:
    tally = BENCHMARK.reduce(
        judged("event", once(1, 1, -1, 0)) + judged("scene", once(1)) + judged("OCR", once(None)),
        {},
    )
    found = values(tally)
    event = found["tasks", "event", "f1"]
    assert event is not None
    assert found["average", "f1"] == pytest.approx((event + 100) / 2)
    [note] = layout(tally).notes
    assert "mean of 2 of the 13 tasks" in note
    assert "OCR" in note


def test_all_thirteen_tasks_need_no_note() -> None:
    items = [pair for task in NAMES for pair in judged(task, once(1, 0))]
    report = layout(BENCHMARK.reduce(items, {}))
    assert report.notes == ()
    assert report.headline == ("average", "f1")


def test_choices_that_are_not_the_default_are_told() -> None:
    items = [pair for task in NAMES for pair in judged(task, once(1, 0))]
    tally = BENCHMARK.reduce(items, {})
    strict, one = layout(tally, reply_reading="strict", category_labels="one").notes
    assert "strict" in strict
    assert "Fig. A3" in one


def test_the_table_has_the_tasks_in_column_order_and_the_average_last() -> None:
    items = judged("event", once(1)) + judged("object_category", once(1))
    [table] = layout(BENCHMARK.reduce(items, {})).tables
    assert [row.label for row in table.rows] == ["Object category", "Event", "average"]
    assert table.columns == ("Precision", "Recall", "F1", "Hit rate", "n")
    assert table.chart is not None
    assert {row.cells[table.chart] for row in table.rows} == {
        ("tasks", "object_category", "f1"),
        ("tasks", "event", "f1"),
        ("average", "f1"),
    }
    assert table.rows[-1].cells[-1] is None


def test_precision_recall_and_hit_rate_are_proportions_of_their_sums() -> None:
    tally = BENCHMARK.reduce(judged("event", once(1, -1, 0, 0)), {})
    for figure in layout(tally).figures:
        names = ("precision", "recall", "hit_rate")
        is_share = figure.path in [("tasks", "event", name) for name in names]
        assert (figure.kind is Kind.PROPORTION) is is_share
        if figure.shares:
            sums = {cell: tally.total(cell) for cell in figure.cells}
            part, whole = figure.shares
            total = sum(sums[cell][whole] for cell in sums)
            share = sum(sums[cell][part] for cell in sums) / total
            assert figure.statistic(sums) == pytest.approx(figure.scale * share)


def test_repeats_give_means_and_ranges() -> None:
    outcomes = [[scored(1), scored(1), scored(0)], [scored(1), scored(-1), FAILED]]
    tally = BENCHMARK.reduce(judged("event", outcomes) + judged("scene", [[scored(1)] * 3]), {})
    found = values(tally)
    assert found["tasks", "event", "recall"] == pytest.approx((100 + 50 + 0) / 3)
    assert found["tasks", "event", "range_recall"] == 100
    assert found["tasks", "scene", "range_recall"] == 0
    assert found["average", "range_recall"] == 50
    assert found["tasks", "event", "std_recall"] == pytest.approx(50)
    assert found["average", "std_recall"] == pytest.approx(25)
    assert found["tasks", "event", "n_scored"] == 5
    kinds = {figure.path: figure.kind for figure in layout(tally).figures}
    assert kinds["tasks", "event", "recall"] is Kind.RATIO
    assert [table.title for table in layout(tally).tables][1:] == [
        "Range over 3 repeats (points)",
        "Standard deviation over 3 repeats (points)",
    ]


def test_questions_without_an_outcome_yet_count_for_nothing() -> None:
    [(item, _)] = judged("event", once(1))
    assert BENCHMARK.reduce([(item, {})], {}) == Tally()
    assert values(Tally()) == {}


def test_scores_have_words() -> None:
    [(item, _)] = judged("event", once(1))
    [question] = item.questions
    words = [BENCHMARK.label(question, outcome) for outcome in (*map(scored, (1, -1, 0)), FAILED)]
    assert words == ["correct", "wrong", "not mentioned", "unscored"]


def test_a_question_is_told_to_people() -> None:
    [(item, _)] = judged("object_number", once(1))
    told = BENCHMARK.describe(item, item.questions[0])
    assert (told.dimension, told.expected) == ("object_number", "2")
    assert told.question == "How many cup does the caption say there are?"
    assert BENCHMARK.record_key(item, item.questions[0], 4) == ("object_number", "0", "0")
    assert BENCHMARK.group(item) == "object_number"
