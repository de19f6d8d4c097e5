"""The arithmetic against the published tables, misprints included."""

from fractions import Fraction

import pytest
from tests.fakes.sources import published

from caliper.benchmarks.captionqa.benchmark import BENCHMARK
from caliper.benchmarks.captionqa.domains import DOMAINS
from caliper.benchmarks.captionqa.scoring import credit
from caliper.core.report import Path
from caliper.core.tally import Tally

# (score - accuracy) / cannot of each domain: the share of questions that offer the cannot
# option, times what choosing it earns.
CONSTANTS = {"natural": ".2155", "document": ".2888", "ecommerce": ".2583", "embodiedai": ".2844"}
# What these two rows print as cannot does not follow from their scores.
MISPRINTS = {
    ("natural", "taxonomy", "Qwen3-VL", "30B-A3B"): "7.2",
    ("embodiedai", "long", "GPT-5", "-"): "1.6",
}


FULL_RESULTS = published("captionqa_tables_11_26.csv")
SUMMARY = published("captionqa_table_3.csv")


def figures(tally: Tally) -> dict[Path, float | None]:
    return {
        figure.path: figure.statistic({cell: tally.total(cell) for cell in figure.cells})
        for figure in BENCHMARK.report(tally, {}).figures
    }


def domain_of_row(row: dict[str, str]) -> dict[str, float | None]:
    """The figures of a domain whose readers answered as often as the row prints.

    Every question with the option is taken to have 4 choices.
    """
    offered = Fraction(CONSTANTS[row["domain"]]) / credit(4)
    correct = Fraction(row["acc"]) / 100
    cannot = Fraction(row["cannot"]) / 100 * offered
    tally = Tally()
    tally.add(
        f"caption/{row['domain']}",
        "all",
        scored=1,
        points=correct + cannot * credit(4),
        correct=correct,
        offered=offered,
        cannot=cannot,
    )
    found = figures(tally)
    return {name: found["domains", row["domain"], name] for name in ("score", "accuracy", "cannot")}


def key(row: dict[str, str]) -> tuple[str, ...]:
    return row["domain"], row["prompt"], row["model"], row["size"]


def test_all_rows_are_there() -> None:
    assert len(FULL_RESULTS) == 383
    assert len(SUMMARY) == 40


def test_the_scores_of_table_3_are_those_of_tables_11_to_26() -> None:
    scores = {key(row): row["score"] for row in FULL_RESULTS}
    cells = {
        (domain, row["prompt"], row["model"], row["size"]): row[domain]
        for row in SUMMARY
        for domain in DOMAINS
    }
    assert len(cells) == 160
    # The only cell without its row.
    assert cells.pop(("natural", "simple", "InternVL3", "8B")) == "76.46"
    assert {name: scores[name] for name in cells} == cells


def test_score_follows_from_accuracy_and_cannot_of_those_who_have_the_option() -> None:
    off = set()
    for row in FULL_RESULTS:
        found = domain_of_row(row)
        assert found["accuracy"] == pytest.approx(float(row["acc"]))
        assert found["cannot"] == pytest.approx(float(row["cannot"]))
        if abs(found["score"] - float(row["score"])) > 0.2:
            off.add(key(row))
    assert off == set(MISPRINTS)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_constant_of_each_domain(domain: str) -> None:
    rows = [row for row in FULL_RESULTS if row["domain"] == domain and key(row) not in MISPRINTS]
    gained = sum(Fraction(row["score"]) - Fraction(row["acc"]) for row in rows)
    assert float(gained / sum(Fraction(row["cannot"]) for row in rows)) == pytest.approx(
        float(CONSTANTS[domain]), abs=0.001
    )


def test_misprints_are_the_printed_ones() -> None:
    printed = {key(row): row["cannot"] for row in FULL_RESULTS if key(row) in MISPRINTS}
    assert printed == MISPRINTS


def test_overall_is_the_unweighted_mean_of_the_domains() -> None:
    for row in SUMMARY:
        tally = Tally()
        # Domains of very different size: their sizes must not matter.
        for size, domain in enumerate(DOMAINS, 1):
            points = Fraction(row[domain]) / 100 * size
            tally.add(f"caption/{domain}", "all", scored=size, points=points, correct=0)
        assert figures(tally)["overall", "score"] == pytest.approx(
            float(row["overall"]), abs=0.0051
        )
