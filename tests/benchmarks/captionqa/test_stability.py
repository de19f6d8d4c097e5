import pytest
from tests.fakes.answered_domains import (
    CANNOT,
    LOST,
    RIGHT,
    WRONG,
    plan,
    question,
    tally_of,
    two_domains,
    values,
)

from caliper.core.report import Kind


def test_repeats_have_a_range_and_a_deviation() -> None:
    items = plan({"nat_1": [question()], "doc_1": [question("Layout")]}, repeats=3)
    outcomes = {"nat_1": [RIGHT, WRONG, CANNOT], "doc_1": [RIGHT, RIGHT, WRONG]}
    tally = tally_of(items, outcomes)
    layout, found = values(tally)
    credit = 100 * 23 / 60
    assert found["domains", "natural", "range_score"] == 100
    assert found["domains", "natural", "range_accuracy"] == 100
    # 100, 0, 0: the deviation of a sample.
    assert found["domains", "natural", "std_accuracy"] == pytest.approx(100 / 3**0.5)
    assert found["domains", "natural", "range_cannot"] == 100
    # The means of the two domains in each repeat: 100, 50, credit / 2.
    assert found["overall", "range_score"] == pytest.approx(100 - credit / 2)
    assert found["overall", "std_accuracy"] == pytest.approx(50)
    # What a figure is over all repeats stays the mean of theirs.
    assert found["domains", "natural", "accuracy"] == pytest.approx(100 / 3)
    assert found["domains", "natural", "n_scored"] == 3
    titles = [table.title for table in layout.tables]
    assert titles[1] == "Stability over 3 repeats (points)"
    kinds = {figure.path: figure.kind for figure in layout.figures}
    assert kinds["overall", "std_score"] is Kind.PLAIN


def test_a_repeat_that_lacks_a_domain_is_not_set_beside_the_others() -> None:
    items = plan({"nat_1": [question()], "doc_1": [question(yes_no=True)]}, repeats=3)
    tally = tally_of(items, {"nat_1": [RIGHT, WRONG, LOST], "doc_1": [RIGHT] * 3})
    _, found = values(tally)
    # 100 and 50: in the third repeat there is no mean of both.
    assert found["overall", "range_score"] == pytest.approx(50)
    # Yes/no questions do not offer the option: its share is that of the other domain.
    assert found["overall", "range_cannot"] == 0
    assert found["domains", "document", "range_cannot"] is None
    _, questions = values(tally, overall="questions")
    assert questions["overall", "range_score"] == pytest.approx(50)


def test_what_is_asked_once_has_no_stability() -> None:
    layout, found = values(two_domains())
    assert not any(path[-1].startswith(("range_", "std_")) for path in found)
    assert not any("Stability" in table.title for table in layout.tables)
