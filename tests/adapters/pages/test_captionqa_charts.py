"""The charts on the page of CaptionQA's analyses, of which terminals show only the tables."""

import re
from functools import cache

import pytest
from tests.fakes.answer_sets import answer_set, question, run

from caliper.adapters.captionqa_tables import table_sections
from caliper.adapters.pages.analyses import render_analyses
from caliper.adapters.text_tables import TableSection, TextTable
from caliper.analysis.captionqa.analyses import analyse
from caliper.benchmarks.captionqa.domains import DOMAINS
from caliper.core.report import Estimate

PICTURES = [
    question(place, domain, category)
    for domain in DOMAINS
    for place, category in enumerate(("Spatial", "Spatial", "Attribute", "Attribute"))
]
WORDS = {f"{domain[:3]}_{place}": 10 + place for domain in DOMAINS for place in range(2)}
LONGER = {picture: 5 * words for picture, words in WORDS.items()}


@cache
def sections() -> tuple[TableSection, ...]:
    answers = answer_set(
        run("a", "RCWR" * 4, on_image="RRRW" * 4, words=WORDS),
        run("a", "RRRC" * 4, "long", words=LONGER),
        run("b", "RWWR" * 3 + "WWWW", on_image="RRRR" * 4, words=WORDS),
        questions=PICTURES,
    )
    return table_sections(analyse(answers, {}, draws=10))


def table(title: str) -> TextTable:
    (found,) = [each for section in sections() for each in section.tables if each.title == title]
    assert not found.bars or len(found.bars) == len(found.rows)
    return found


def test_a_prompts_gains_and_losses_are_bars_from_zero_and_points() -> None:
    change = table("From simple to long")
    whole, best, *_, worst = change.bars
    # Per domain: of Spatial one more is right, of Attribute one more and one fewer.
    assert (whole.value, best.value, worst.value) == (25, 50, 0)
    name, coverage, accuracy = change.points[0]
    assert name == change.rows[1][0]
    assert (coverage.value, accuracy.value) == (50, 50)


def test_length_is_drawn_against_score() -> None:
    points = table("Caption length and score").points
    assert [(name, words.value) for name, words, _ in points] == [
        ("a", 10.5),
        ("a, long", 52.5),
        ("b", 10.5),
    ]
    assert [words.value for _, words, _ in table("What length gains").points] == [10.5, 52.5]


def test_domains_are_a_radar_and_bars() -> None:
    radar = dict(table("Accuracy by domain").radar)
    assert [each.value for each in radar["a, on image"]] == [75] * 4
    assert [each.value for each in radar["b, on caption"]] == [50, 50, 50, 0]
    # Both models are wrong about one of four questions, in the last domain about more.
    assert [bar.value for bar in table("By domain").bars][:3] == pytest.approx([50, 50, 50])
    assert table("Gaps").bars[1].value == pytest.approx(100 - 37.5)
    assert table("Categories over all runs").bars[0] == Estimate(
        pytest.approx((65 + 100 + 50) / 3), 50, 100
    )


def test_the_page_draws_them() -> None:
    page = render_analyses("CaptionQA", sections(), ["a", "b"])
    assert 'aria-label="Accuracy by domain, as a radar"' in page
    for axes in (
        "gain in accuracy against gain in coverage",
        "score against words",
        "accuracy against words",
        "accuracy against coverage",
        "accuracy on the image against accuracy on the caption",
    ):
        assert f'aria-label="{axes}"' in page
    charted = [each for section in sections() for each in section.tables if each.bars]
    assert len(re.findall('class="charted"', page)) == len(charted) == 7
