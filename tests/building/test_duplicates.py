import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.building.questions import asked, distinct

from caliper.building.candidates import Candidate
from caliper.building.captionqa.duplicates import (
    ANOTHER_ANSWER,
    GroupingOptions,
    drop_duplicates,
    groups_of,
    medoid,
    similarities,
    subject,
    text_of,
)
from caliper.lexical.ngrams import embed

OPTIONS = GroupingOptions()
POINTS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=15)


def at(*degrees: float) -> list[tuple[float, float]]:
    return [(math.cos(math.radians(each)), math.sin(math.radians(each))) for each in degrees]


def test_groups_by_similarity() -> None:
    # Neighbours 20 degrees apart are similar (0.94), but not over 40 (0.77): a chain is split.
    groups = groups_of(similarities(at(0, 20, 40, 90, 91)), OPTIONS)
    assert groups == [(0, 1), (3, 4)]


def test_the_medoid_is_the_most_central() -> None:
    assert medoid(similarities(at(0, 10, 30)), (0, 1, 2)) == 1
    assert medoid(similarities(at(5, 5)), (0, 1)) == 0


@given(POINTS)
def test_groups_are_cohesive_and_apart(points: list[tuple[float, float]]) -> None:
    similar = similarities(points)
    groups = groups_of(similar, OPTIONS)
    members = [member for group in groups for member in group]
    assert len(members) == len(set(members))
    for group in groups:
        assert len(group) > 1
        assert all(similar[a, b] >= OPTIONS.cohesion for a in group for b in group if a != b)


@given(distinct(12))
def test_one_of_each_group_stays(candidates: list[Candidate]) -> None:
    vectors = {each.id: embed(text_of(each)) for each in candidates}
    fates = drop_duplicates(candidates, vectors, OPTIONS)
    assert [fate.candidate.id for fate in fates] == [each.id for each in candidates]
    stayed = {fate.candidate.id: fate.candidate for fate in fates if not fate.dropped}
    for fate in fates:
        if fate.dropped:
            best = stayed[fate.detail.removeprefix("like ").partition(":")[0]]
            assert best.image == fate.candidate.image
    assert {each.image for each in candidates} == {each.image for each in stayed.values()}


def test_another_picture_is_no_duplicate_and_another_answer_is_flagged() -> None:
    candidates = [
        asked("Which colour is the cup?"),
        asked("What colour is the cup?", answer="blue"),
        asked("What colour is the cup?", image="box.png"),
    ]
    vectors = {each.id: embed(text_of(each)) for each in candidates}
    fates = drop_duplicates(candidates, vectors, OPTIONS, by_spelling=True)
    assert [fate.dropped for fate in fates] == ["", "near duplicate", ""]
    assert fates[0].candidate.flags == (ANOTHER_ANSWER,)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What colour is the saucer?", "Which color do the saucers have?", True),
        ("How many cups are there?", "How many cats are there?", False),
        ("Is the cup left of the box?", "Is the box left of the cup?", False),
        ("Is the cup on the box?", "Is the cup under the box?", False),
        ("Is the cup full?", "Is the cup not full?", False),
    ],
)
def test_subjects(one: str, other: str, same: bool) -> None:
    assert (subject(asked(one)) == subject(asked(other))) is same
