"""Which questions got better or worse."""

from dataclasses import replace

from tests.fakes import reports

from caliper.analysis.flips import flips
from caliper.core.report import VerdictRow

ROW = reports.verdict(0, question_id="q0", score=1.0)


def rows(*scores: float | None) -> list[VerdictRow]:
    return [
        replace(ROW, index=place, question_id=f"q{place}", score=score)
        for place, score in enumerate(scores)
    ]


def test_every_question_is_counted_once() -> None:
    found = flips(rows(0.0, 1.0, 1.0, None, 1.0, 0.0), rows(1.0, 0.0, 1.0, 1.0, None))
    assert [flip.after.question_id for flip in found.better] == ["q0"]
    assert [flip.after.question_id for flip in found.worse] == ["q1"]
    assert (found.same, found.unpaired) == (1, 3)


def test_repeats_and_benchmarks_are_kept_apart() -> None:
    first = [ROW, replace(ROW, repeat=1, score=0.0), replace(ROW, benchmark="comprecap")]
    second = [replace(row, score=1.0) for row in first]
    found = flips(first, second)
    assert [flip.after.repeat for flip in found.better] == [1]
    assert (found.worse, found.same, found.unpaired) == ((), 2, 0)


def test_the_largest_change_comes_first() -> None:
    found = flips(rows(0.0, 1.0, 0.0, 5.0), rows(1.0, 5.0, 1.0, 0.0))
    assert [(flip.after.question_id, flip.change) for flip in found.better] == [
        ("q1", 4.0),
        ("q0", 1.0),
        ("q2", 1.0),
    ]
    assert [flip.change for flip in found.worse] == [-5.0]
