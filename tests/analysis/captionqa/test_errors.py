"""Coverage against accuracy and kinds of errors (paper 14.5 and 15)."""

from dataclasses import replace

import pytest
from tests.fakes.answer_sets import answer_set, question, run
from tests.fakes.sources import published

from caliper.analysis.captionqa.answers import correlate
from caliper.analysis.captionqa.errors import error_analysis

QUESTIONS = [
    replace(question(place, category="Spatial" if place < 3 else "Attribute"), has_cannot=place < 5)
    for place in range(6)
]


def test_kinds_of_errors() -> None:
    answers = answer_set(
        run("a", "RCW-WW", on_image="RRWRRC"), run("b", "RRRCRR"), questions=QUESTIONS
    )
    first, second = error_analysis(answers).errors
    kinds = (first.right, first.omitted, first.misleading, first.forced, first.unscored)
    assert kinds == (1, 1, 2, 1, 1)
    assert (first.seen, first.unseen) == (2, 2)
    assert (second.seen, second.unseen) == (None, None)


def test_coverage_against_accuracy() -> None:
    found = error_analysis(answer_set(run("a", "RCW-WW"), run("b", "RRRCRR"), questions=QUESTIONS))
    first, second = found.coverage
    assert first.coverage == 75
    assert first.accuracy == 20
    assert first.accuracy_of_answered == 25
    assert (second.coverage, second.accuracy_of_answered) == (80, 100)
    spatial, attribute = found.categories
    assert (spatial.category, spatial.questions, spatial.least, spatial.most) == (
        "Spatial",
        3,
        pytest.approx(130 / 3, abs=1e-6),
        100,
    )
    assert spatial.cannot == pytest.approx(100 / 6, abs=1e-6)
    assert spatial.mean == pytest.approx((130 / 3 + 100) / 2, abs=1e-6)
    # Only questions that offer it, and have a score.
    assert attribute.cannot == pytest.approx(100 / 3, abs=1e-6)
    assert (attribute.errors.forced, attribute.errors.unscored) == (1, 1)


def test_cannot_and_score_of_table_9() -> None:
    """The text prints r = .68; from the cells of Table 9 it is -.74 for the mean score."""
    rows = published("captionqa_table_9.csv")
    assert len(rows) == 25
    found = correlate([(float(row["cannot"]), float(row["mean"])) for row in rows])
    assert found.value == pytest.approx(-0.744, abs=0.001)
    assert found.low < -0.68 < found.high


def test_questions_of_table_9_and_of_table_1() -> None:
    """Table 9 has 1,000 questions of Natural more than Table 1; the difficulties of 17.2 are of 8
    questions fewer.
    """
    by_domain: dict[str, int] = {}
    for row in published("captionqa_table_9.csv"):
        by_domain[row["domain"]] = by_domain.get(row["domain"], 0) + int(row["questions"])
    table_1 = {"natural": 10_445, "document": 7_422, "ecommerce": 5_886, "embodiedai": 9_274}
    assert by_domain == table_1 | {"natural": 11_445}
    assert (sum(by_domain.values()), sum(table_1.values())) == (34_027, 33_027)
    assert sum((10_445, 7_417, 5_884, 9_273)) == 33_019
