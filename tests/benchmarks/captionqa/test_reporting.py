from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
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

from caliper.benchmarks.captionqa.benchmark import BENCHMARK
from caliper.core.outcome import Outcome
from caliper.core.report import Kind
from caliper.core.tally import Tally


def test_figures() -> None:
    layout, found = values(two_domains())
    assert layout.headline == ("overall", "score")
    natural = float((1 + Fraction(23, 60)) / 3 * 100)
    assert found["domains", "natural", "score"] == natural
    assert found["domains", "natural", "accuracy"] == pytest.approx(100 / 3)
    # One of the two that offer the option, one of all three.
    assert found["domains", "natural", "cannot"] == 50
    assert found["domains", "natural", "cannot_of_all"] == pytest.approx(100 / 3)
    assert found["domains", "natural", "n_scored"] == 3
    assert found["domains", "natural", "n_unscored"] == 1
    assert found["domains", "document", "score"] == pytest.approx(100 * 23 / 60)
    assert found["categories", "natural", "Attribute", "n_scored"] == 2
    assert found["categories", "document", "Layout", "cannot"] == 100
    assert found["subcategories", "natural", "Spatial - Orientation", "accuracy"] == 0
    assert ("categories", "natural", "") not in found


def test_overall_has_both_readings_and_the_setting_picks_the_headline() -> None:
    domains = (float((1 + Fraction(23, 60)) / 3 * 100) + 100 * 23 / 60) / 2
    questions = 100 * (1 + 2 * 23 / 60) / 4
    for setting, headline in (("domains", domains), ("questions", questions)):
        _, found = values(two_domains(), overall=setting)
        assert found["overall", "score"] == pytest.approx(headline)
        assert found["overall_by", "domains", "score"] == pytest.approx(domains)
        assert found["overall_by", "questions", "score"] == pytest.approx(questions)
        assert found["overall_by", "domains", "cannot"] == 75
        assert found["overall_by", "questions", "cannot"] == pytest.approx(200 / 3)
        assert found["overall", "n_scored"] == found["overall_by", "domains", "n_scored"] == 4
        assert found["overall", "n_unscored"] == 1
    default, _ = values(two_domains())
    assert "mean of the domains" in default.notes[0]


@pytest.mark.parametrize("overall", ["domains", "questions"])
def test_figures_that_pool_domains_are_named(overall: str) -> None:
    items = plan({"nat_1": [question()], "doc_1": [question()]}, qa=[])
    outcomes: dict[str, list[Outcome]] = {
        key: [RIGHT] for key in ("nat_1", "qa/nat_1", "doc_1", "qa/doc_1")
    }
    layout, _ = values(tally_of(items, outcomes), overall=overall)
    pooled = {each.path for each in layout.figures if each.parts and not each.weights}
    named = {
        each.path
        for each in layout.figures
        if BENCHMARK.pools(each.path, {"overall": overall}) and each.kind is not Kind.COUNT
    }
    gap = ("utility_gap", "overall")
    assert (gap in named) == (overall == "questions")
    # Questions on the image are all asked.
    assert named - {gap} == {each for each in pooled - {gap} if each[0] != "qa_on_image"}


def test_kinds_and_shares() -> None:
    layout, _ = values(two_domains())
    figures = {figure.path: figure for figure in layout.figures}
    shares = {
        "accuracy": ("correct", "scored"),
        "cannot": ("cannot", "offered"),
        "cannot_of_all": ("cannot", "scored"),
    }
    for name, expected in shares.items():
        for path in (("domains", "natural", name), ("overall_by", "questions", name)):
            assert (figures[path].kind, figures[path].shares) == (Kind.PROPORTION, expected)
        mean = figures["overall_by", "domains", name]
        assert (mean.kind, mean.shares) == (Kind.RATIO, None)
    assert figures["domains", "natural", "score"].kind is Kind.RATIO
    assert figures["domains", "natural", "n_scored"].kind is Kind.COUNT


def test_every_proportion_is_the_quotient_of_its_shares() -> None:
    tally = two_domains()
    layout, found = values(tally)
    for figure in layout.figures:
        if figure.shares:
            part, whole = (
                sum(tally.total(cell).get(name, 0) for cell in figure.cells)
                for name in figure.shares
            )
            expected = part / whole * figure.scale if whole else None
            assert found[figure.path] == pytest.approx(expected)


def test_no_data_is_no_number() -> None:
    items = plan({"nat_1": [question()], "doc_1": [question(yes_no=True)]})
    _, found = values(tally_of(items, {"nat_1": [LOST], "doc_1": [RIGHT]}))
    assert found["domains", "natural", "score"] is None
    assert found["domains", "document", "cannot"] is None
    assert found["overall", "cannot"] is None
    assert found["overall", "score"] == 100
    layout, found = values(Tally())
    assert found["overall", "score"] is None
    assert layout.headline in found


def test_a_domain_without_scores_is_named() -> None:
    items = plan({"nat_1": [question()], "doc_1": [question()]})
    layout, _ = values(tally_of(items, {"nat_1": [LOST], "doc_1": [RIGHT]}))
    assert any("Natural" in note for note in layout.notes)


def test_a_mean_of_domains_that_loses_one_is_no_number() -> None:
    tally = two_domains()
    layout, _ = values(tally)
    figure = next(figure for figure in layout.figures if figure.path == ("overall", "score"))
    natural = tally.total("caption/natural")
    assert figure.statistic({"caption/natural": natural, "caption/document": {}}) is None
    # Asked about one domain alone, it is that of the domain.
    alone = float(100 * natural["points"] / natural["scored"])
    assert figure.statistic({"caption/natural": natural}) == alone


def test_what_has_no_outcome_yet_is_left_out() -> None:
    items = plan({"nat_1": [question(), question()]})
    _, found = values(BENCHMARK.reduce([(items[0], {(1, 0): RIGHT})], {}))
    assert found["domains", "natural", "n_scored"] == 1
    assert found["domains", "natural", "n_unscored"] == 0


def test_utility_gap() -> None:
    items = plan({"nat_1": [question()] * 2, "doc_1": [question()], "emb_1": [question()]}, qa=[])
    outcomes = {
        "nat_1": [RIGHT, WRONG],
        "qa/nat_1": [RIGHT, RIGHT],
        "doc_1": [CANNOT],
        "qa/doc_1": [RIGHT],
        "emb_1": [RIGHT],
        "qa/emb_1": [LOST],
    }
    tally = tally_of(items, outcomes)
    layout, found = values(tally)
    document = 100 * 37 / 60
    assert found["qa_on_image", "natural", "accuracy"] == 100
    assert found["qa_on_image", "overall", "score"] == 100
    assert found["utility_gap", "natural"] == 50
    assert found["utility_gap", "document"] == pytest.approx(document)
    # Nothing to set against each other in Embodied AI.
    assert ("utility_gap", "embodiedai") not in found
    assert found["utility_gap", "overall"] == pytest.approx((50 + document) / 2)
    # Questions on the image are no part of the caption's figures.
    assert found["overall", "n_scored"] == 4
    _, found = values(tally, overall="questions")
    assert found["utility_gap", "overall"] == pytest.approx((100 + document) / 3)
    table = layout.tables[-1]
    assert table.title == "Utility gap"
    assert [row.label for row in table.rows[1:]] == ["Natural", "Document"]


def test_tables_show_figures_that_exist() -> None:
    items = plan({"nat_1": [question()], "ecom_1": [question("Branding")]}, qa=[])
    outcomes: dict[str, list[Outcome]] = {
        key: [RIGHT] for key in ("nat_1", "ecom_1", "qa/nat_1", "qa/ecom_1")
    }
    layout, found = values(tally_of(items, outcomes))
    titles = [table.title for table in layout.tables]
    assert titles == ["CaptionQA", "Natural by category", "E-commerce by category", "Utility gap"]
    for table in layout.tables:
        assert table.chart is not None
        for row in table.rows:
            assert len(row.cells) == len(table.columns)
            assert all(path in found for path in row.cells)
    labels = [row.label for row in layout.tables[0].rows]
    assert labels == [
        "Overall, mean of the domains",
        "Overall, mean over questions",
        "Natural",
        "E-commerce",
    ]


OUTCOMES = st.sampled_from([RIGHT, WRONG, CANNOT, LOST])


@given(st.lists(st.lists(OUTCOMES, min_size=2, max_size=2), min_size=3, max_size=3), st.randoms())
def test_merging_tallies_of_samples_gives_the_tally_of_all(
    drawn: list[list[Outcome]], order: Random
) -> None:
    samples = {"nat_1": [question()] * 2, "nat_2": [question()] * 2, "doc_1": [question()] * 2}
    items = plan(samples)
    outcomes = dict(zip(samples, drawn, strict=True))
    parts = [tally_of([item], outcomes) for item in items]
    order.shuffle(parts)
    merged = Tally()
    for part in parts:
        merged = merged.merge(part)
    whole = tally_of(items, outcomes)
    assert merged == whole
    assert values(merged)[1] == values(whole)[1]
    assert [figure.path for figure in values(merged)[0].figures] == [
        figure.path for figure in values(whole)[0].figures
    ]


def test_described() -> None:
    items = plan({"nat_1": [question(), question() | {"answer": "purple"}]}, qa=[])
    told = BENCHMARK.describe(items[0], items[0].questions[0])
    assert (told.dimension, told.question, told.expected) == ("natural", "What?", "red")
    assert BENCHMARK.describe(items[0], items[0].questions[1]).expected == ""
    on_image = BENCHMARK.describe(items[1], items[1].questions[0])
    assert on_image.dimension == "natural on the image"
