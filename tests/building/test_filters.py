"""The text-only filter, the validators, the balance, taxonomies and the official rows."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.building.questions import asked, candidates, distinct
from tests.building.test_candidates import rows

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.captionqa.planning import plan
from caliper.building.balance import balance
from caliper.building.candidates import Candidate
from caliper.building.captionqa.blind import UNSURE, filter_blind, is_asked, threshold
from caliper.building.captionqa.kind import official_rows
from caliper.building.captionqa.taxonomies import category_of, merge_taxonomies
from caliper.building.captionqa.validation import FLAGS, UNSEEN, decide
from caliper.building.steps import (
    Fate,
    StepResult,
    coverage,
    fate_lines,
    keep_all,
    read_fates,
    restore_step,
)
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row


@pytest.mark.parametrize(
    ("options", "votes", "needed"),
    [(2, 10, 10), (3, 10, 8), (4, 10, 7), (5, 10, 6), (9, 10, 6), (4, 8, 6), (4, 1, 1)],
)
def test_thresholds_of_the_released_script(options: int, votes: int, needed: int) -> None:
    assert threshold(options, votes) == needed


@given(candidates(), st.integers(0, 10))
def test_the_blind_filter_drops_from_the_threshold_on(candidate: Candidate, right: int) -> None:
    answers = [candidate.answer] * right + [""] * (10 - right)
    (fate,) = filter_blind([candidate], {candidate.id: answers})
    assert bool(fate.dropped) == (right >= threshold(len(candidate.choices), 10))


def test_answers_that_cannot_be_read_prove_nothing() -> None:
    accepted = picks("red", "red")
    for right, unreadable, unsure in ((0, 10, True), (6, 1, True), (6, 0, False), (2, 4, False)):
        answers = ["red"] * right + [""] * unreadable + ["blue"] * (10 - right - unreadable)
        (fate,) = filter_blind([asked()], {asked().id: answers})
        assert (fate.dropped, fate.candidate.flags) == ("", (UNSURE,) if unsure else ())
        # Validators alone do not accept it: people see why.
        (seen,) = decide([fate.candidate], accepted)
        expected = ("review", (UNSURE,)) if unsure else ("accept", ())
        assert (seen.decision, seen.reasons) == expected


def test_questions_with_a_no_are_not_asked_and_stay() -> None:
    assert not is_asked(asked(choices=("Yes", "No")))
    assert filter_blind([asked()], {}) == (Fate(asked()),)


def picks(*chosen: str) -> dict[str, dict[str, str]]:
    return {f"validator {n}": {asked().id: pick} for n, pick in enumerate(chosen, start=1)}


@pytest.mark.parametrize(
    ("chosen", "decision", "reasons"),
    [
        ((), "review", (UNSEEN,)),
        (("red", "red"), "accept", ()),
        (("red", "blue"), "review", ("validator 2: answers blue",)),
        (("blue", "blue"), "review", ("validator 1: answers blue", "validator 2: answers blue")),
        (("", "red"), "review", ("validator 1: no readable answer",)),
        ((FLAGS[1], "red"), "review", (f"validator 1: {FLAGS[1]}",)),
    ],
)
def test_validators(chosen: tuple[str, ...], decision: str, reasons: tuple[str, ...]) -> None:
    for reject in (False, True):
        (fate,) = decide([asked()], picks(*chosen), reject=reject)
        assert (fate.decision, fate.reasons, fate.dropped) == (decision, reasons, "")


def test_the_same_flag_of_both_rejects_only_if_asked_to() -> None:
    same, another = picks(FLAGS[0], FLAGS[0]), picks(FLAGS[0], FLAGS[1])
    assert decide([asked()], same)[0].decision == "review"
    assert decide([asked()], another, reject=True)[0].decision == "review"
    rejected = decide([asked()], same, reject=True)
    assert (rejected[0].decision, rejected[0].dropped) == ("reject", "same flag of all validators")


@given(distinct(), st.integers(1, 5), st.integers(0, 3))
def test_balance(found: list[Candidate], most: int, seed: int) -> None:
    fates = balance(keep_all(found), most, seed)
    assert [fate.candidate for fate in fates] == found
    before = Counter(each.category for each in found)
    kept = [fate.candidate for fate in fates if not fate.dropped]
    after = Counter(each.category for each in kept)
    assert after == {name: min(count, most) for name, count in before.items()}
    # Which stay depends on no order, and they are spread over the pictures.
    again = balance(keep_all(found[::-1]), most, seed)
    assert {fate.candidate.id for fate in again if not fate.dropped} == {e.id for e in kept}
    for name, count in after.items():
        images = {each.image for each in found if each.category == name}
        kept_images = {each.image for each in kept if each.category == name}
        assert len(kept_images) == min(len(images), count)


@given(distinct(), st.integers(1, 5), st.data())
def test_what_comes_later_only_fills_what_is_left(
    found: list[Candidate], most: int, data: st.DataObject
) -> None:
    tiers = st.sampled_from([0, 1, 2])
    later = {each.id: data.draw(tiers) for each in found}
    kept = {
        fate.candidate.id
        for fate in balance(keep_all(found), most, 0, later=later)
        if not fate.dropped
    }
    for name in {each.category for each in found}:
        own = sorted(later[each.id] for each in found if each.category == name)
        stay = [later[each.id] for each in found if each.category == name and each.id in kept]
        assert sorted(stay) == own[:most]


def test_no_limit_keeps_everything() -> None:
    assert balance(keep_all([asked()]), None, 0) == (Fate(asked()),)


@given(distinct(9))
def test_a_step_is_restored_from_its_file(found: list[Candidate]) -> None:
    fates = tuple(Fate(each, "why", "d", "review", ("r",)) for each in found)
    step = StepResult("2-formats", fates, ("m",), {"p": "1"}, ("remark",), "no model")
    assert restore_step(step.summary(), read_fates(rows(fate_lines(fates)))) == step


def test_taxonomies_are_merged_and_covered() -> None:
    first = {"home": ("Things -> Kind", "Things -> Count"), "work": ("A -> b",)}
    domain, nodes = merge_taxonomies(
        [first, {"home": ("things -> kind", "Use -> Purpose")}], "home"
    )
    assert (domain, nodes) == ("home", ("Things -> Kind", "Things -> Count", "Use -> Purpose"))
    categories = [category_of(node) for node in nodes]
    assert categories[0] == "Things - Kind"
    found = [asked(category="Things - Count")] * 2
    assert coverage(categories, found) == {
        "Things - Kind": 0,
        "Things - Count": 2,
        "Use - Purpose": 0,
    }


@pytest.mark.parametrize(("domain", "told"), [("", "--domain"), ("street", "it has home, work")])
def test_a_domain_that_is_not_there(domain: str, told: str) -> None:
    taxonomy = {"home": ("A -> b",), "work": ("A -> b",)}
    with pytest.raises(InvalidInput, match=told):
        merge_taxonomies([taxonomy], domain)


@given(distinct())
def test_the_official_rows_are_planned(found: list[Candidate]) -> None:
    written = official_rows(found, "household")
    items = list(plan((Row("d.json", 1, row) for row in written), PlanRequest({})))
    assert sum(len(item.questions) for item in items) == len(found)
    assert all(question.unscored is None for item in items for question in item.questions)
    assert {item.questions[0].payload.domain for item in items} <= {"household"}


def test_ids_are_paths_without_endings_unless_two_are_the_same() -> None:
    images = ("a/cup.jpg", "a/cup.png", "a/cup.png.webp", "b/box.png")
    found = [asked(image=image) for image in images]
    assert [row["id"] for row in official_rows(found, "home")] == [
        "a/cup.jpg",
        "a/cup.png",
        "a/cup.png.webp",
        "b/box",
    ]
