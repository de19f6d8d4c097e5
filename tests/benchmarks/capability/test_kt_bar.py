"""What a model knows and does not tell: captions beside questions about the same media."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.judged_tasks import layout, once, rows, scored, values
from tests.fakes.kt_bar import kt_bar_bounds

from caliper.benchmarks.base import Outcomes, PlanRequest
from caliper.benchmarks.capability.benchmark import BENCHMARK
from caliper.core.question import Item, Source
from caliper.core.rows import Row
from caliper.core.tally import Tally


def asked_too(task: str, number: int, repeats: int = 1) -> list[Item]:
    qa_rows = [
        Row(row.file, row.line, dict(row.fields) | {"question_id": row.line} | QUESTION)
        for row in rows(task, number)
    ]
    request = PlanRequest(settings={}, repeats=repeats, qa_rows=qa_rows)
    return list(BENCHMARK.plan(rows(task, number), request))


QUESTION = {"question": "Is it?", "options": ["A. Yes", "B. No"], "answer": "A"}


def with_answers(
    captions: list[int | None], answers: list[int | None]
) -> list[tuple[Item, Outcomes]]:
    told, known = iter(once(*captions)), iter(once(*answers))
    return [
        (item, {(0, 0): next(known if item.source is Source.MEDIA else told)[0]})
        for item in asked_too("scene", len(captions))
    ]


def test_kt_bar_is_what_is_known_and_not_told() -> None:
    tally = BENCHMARK.reduce(with_answers([1, -1, 0, 0, None, 1], [1, 1, 1, 0, 1, None]), {})
    found = values(tally)
    assert found["tasks", "scene", "qa_accuracy"] == 80
    # Known and judged are the first three; the fifth has no score for its caption.
    assert found["tasks", "scene", "kt_bar"] == pytest.approx(200 / 3)
    assert found["average", "kt_bar"] == pytest.approx(200 / 3)
    assert found["tasks", "scene", "qa_n_scored"] == 5
    assert found["tasks", "scene", "qa_n_unscored"] == 1
    assert [table.title for table in layout(tally).tables][1] == "Questions about the media (%)"
    assert any("Open answers" in note for note in layout(tally).notes)


def test_kt_bar_over_repeats_is_the_mean_of_theirs() -> None:
    pairs: list[tuple[Item, Outcomes]] = []
    for item in asked_too("scene", 1, repeats=2):
        if item.source is Source.MEDIA:
            pairs.append((item, {(0, 0): scored(1)}))
        else:
            pairs.append((item, {(0, 0): scored(1), (0, 1): scored(0)}))
    assert values(BENCHMARK.reduce(pairs, {}))["tasks", "scene", "kt_bar"] == 50


@pytest.mark.parametrize(
    ("accuracy", "recall", "least", "greatest"),
    [(80, 40, 50, 75), (50, 60, 0, 80), (25, 10, 60, 100), (100, 100, 0, 0)],
)
def test_the_bounds_of_kt_bar(
    accuracy: float, recall: float, least: float, greatest: float
) -> None:
    assert kt_bar_bounds(accuracy, recall) == pytest.approx((least, greatest))


SCORES = st.sampled_from([1, -1, 0])
PAIRS = st.lists(st.tuples(SCORES, st.sampled_from([0, 1])), min_size=1, max_size=30)


@given(PAIRS)
def test_kt_bar_is_always_within_its_bounds(pairs: list[tuple[int, int]]) -> None:
    captions, answers = [list(column) for column in zip(*pairs, strict=True)]
    found = values(BENCHMARK.reduce(with_answers(captions, answers), {}))
    accuracy, recall = found["tasks", "scene", "qa_accuracy"], found["tasks", "scene", "recall"]
    kt_bar = found.get(("tasks", "scene", "kt_bar"))
    assert accuracy is not None
    assert recall is not None
    if accuracy == 0:
        assert kt_bar is None
    else:
        least, greatest = kt_bar_bounds(accuracy, recall)
        assert kt_bar is not None
        assert least - 1e-9 <= kt_bar <= greatest + 1e-9


@given(st.lists(st.sampled_from([1, -1, 0, None]), max_size=20), st.data())
def test_tallies_of_parts_add_up_in_any_order(
    scores: list[int | None], data: st.DataObject
) -> None:
    pairs = with_answers(scores, scores)
    whole = BENCHMARK.reduce(pairs, {})
    by_sample: dict[str, list[tuple[Item, Outcomes]]] = {}
    for pair in pairs:
        by_sample.setdefault(pair[0].sample, []).append(pair)
    parts = [
        BENCHMARK.reduce(part, {}) for part in data.draw(st.permutations([*by_sample.values()]))
    ]
    cut = data.draw(st.integers(0, len(parts)))
    left, right = Tally(), Tally()
    for place, part in zip(count(), parts, strict=False):
        if place < cut:
            left = left.merge(part)
        else:
            right = part.merge(right)
    assert left.merge(right) == right.merge(left) == whole
