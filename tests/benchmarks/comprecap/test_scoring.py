from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from caliper.benchmarks.base import Outcomes, PlanRequest
from caliper.benchmarks.comprecap.planning import plan
from caliper.benchmarks.comprecap.questions import Atom, SceneMeasure
from caliper.benchmarks.comprecap.scoring import coverage, reduce
from caliper.core.outcome import Outcome, Reason, Scored, Unscored
from caliper.core.question import Item
from caliper.core.rows import Row

SILENT = Scored(Fraction(0), mentioned=False)
OBJECTS = Scored(Fraction(2, 5))
LOST = Unscored(Reason.BACKEND)


def outcomes(*phrases: Outcome, objects: Outcome = OBJECTS) -> Outcomes:
    """The measure's outcome and, for each phrase, the same outcome in both repeats."""
    found: dict[tuple[int, int], Outcome] = {(0, 0): objects}
    for ordinal, outcome in enumerate(phrases, start=1):
        found |= {(ordinal, repeat): outcome for repeat in range(2)}
    return found


def score(value: int) -> Scored:
    return Scored(Fraction(value))


def total(item: Item, found: Outcomes, cell: str, **settings: str) -> dict[str, Any]:
    return dict(reduce([(item, found)], settings).total(cell))


def test_objects_carry_the_score_and_the_length_of_the_caption(item: Item) -> None:
    found = outcomes(score(4), SILENT, score(3), score(1))
    assert total(item, found, "objects") == {
        "sum": Fraction(2, 5),
        "n": 1,
        "scored": 1,
        "unscored": 0,
    }


@pytest.mark.parametrize(("over", "mean"), [("instances", 2), ("mentioned", 4)])
def test_attributes_over_all_instances_or_the_mentioned_ones(
    item: Item, over: str, mean: int
) -> None:
    found = total(item, outcomes(score(4), SILENT, LOST, LOST), "attribute/1", attribute_over=over)
    assert (found["sum"], found["n"], found["scored"]) == (mean, 1, 2)


def test_an_unscored_phrase_is_counted_and_not_averaged(item: Item) -> None:
    found = total(item, outcomes(score(4), score(2), score(3), LOST), "relation/0")
    assert found == {"sum": 3, "n": 1, "scored": 1, "unscored": 1}


def test_a_picture_without_relations_is_left_out_of_their_mean(info: list[dict[str, Any]]) -> None:
    row = Row("anno.json", 1, {"image": "a.jpg", "info": info[1:]})
    item = next(plan([row], PlanRequest({}, repeats=2)))
    tally = reduce([(item, outcomes(score(4)))], {})
    assert "relation/0" not in tally


def test_s_cov_adds_what_masks_share(item: Item) -> None:
    # Three pixels of the dog at 2, one shared at min(5, 2 + 4), one of the frisbee at 4.
    covered = Fraction(3 * 2 + 1 * 5 + 1 * 4, 5)
    found = outcomes(score(2), score(4), score(1), score(1))
    assert total(item, found, "coverage/0")["sum"] == covered / 5
    assert total(item, found, "coverage/0", s_cov="image")["sum"] == covered / 10


def test_an_unscored_instance_leaves_its_picture_without_s_cov(item: Item) -> None:
    found = total(item, outcomes(score(2), LOST, score(1), score(1)), "coverage/0")
    assert found == {"scored": 0, "unscored": 1}


def test_s_cov_waits_for_every_instance(item: Item) -> None:
    tally = reduce([(item, {(0, 0): OBJECTS, (1, 0): score(3)})], {})
    assert "coverage/0" not in tally
    assert "attribute/0" in tally


def test_coverage_by_pixels() -> None:
    """Against the rule applied pixel by pixel."""
    masks = [[1, 1, 1, 0, 0, 0], [0, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0]]
    scores = [Fraction(1), Fraction(3), Fraction(2)]
    pixels = [
        min(
            Fraction(1),
            sum((s * m[p] / 5 for s, m in zip(scores, masks, strict=True)), Fraction(0)),
        )
        for p in range(6)
    ]
    atoms = tuple(Atom(tuple(i for i in range(3) if masks[i][p]), 1) for p in range(5))
    measure = SceneMeasure(("a",), ("a", "a", "a"), atoms, 6)
    assert coverage(measure, scores, "union") == sum(pixels) / 5
    assert coverage(measure, scores, "image") == sum(pixels) / 6


def test_tallies_of_pictures_merge_to_the_tally_of_all(item: Item, row: Row) -> None:
    other = next(plan([Row("x", 1, row.fields | {"image": "b.jpg"})], PlanRequest({}, repeats=2)))
    first = (item, outcomes(score(2), SILENT, LOST, score(1)))
    second = (other, outcomes(score(5), score(0), score(2), LOST, objects=LOST))
    merged = reduce([first], {}).merge(reduce([second], {}))
    assert merged == reduce([first, second], {}) == reduce([second, first], {})


def test_compreqa_counts_right_answers() -> None:
    fields = {"image_name": "a.jpg", "question": "Seen? A. Yes. B. No.", "answer": "A"}
    rows = [Row("compreqa_p.json", line, fields) for line in (1, 2, 3)]
    [item] = plan([], PlanRequest({}, qa_rows=rows))
    found = {(0, 0): score(1), (1, 0): score(0), (2, 0): LOST}
    assert total(item, found, "compreqa/p") == {"sum": 1, "n": 2, "scored": 2, "unscored": 1}
