"""The utility gap of paper 5: Table 4, over the accuracies of Tables 11 to 26."""

import numpy as np
import pytest
from tests.fakes.answer_sets import answer_set, question, run
from tests.fakes.sources import published

from caliper.analysis.captionqa.answers import AnsweredRun, Scores
from caliper.analysis.captionqa.utility_gap import DomainGap, UtilityGap, utility_gap
from caliper.benchmarks.captionqa.domains import DOMAINS

QUESTIONS = 10_000
"""A domain's, so that an accuracy with two decimals is a whole number of questions."""


def answered(accuracies: list[float]) -> Scores:
    """Scores with this accuracy in each domain."""
    right = [round(accuracy * 100) for accuracy in accuracies]
    return np.concatenate([np.arange(QUESTIONS) < count for count in right]).astype(np.float64)


@pytest.fixture(scope="module")
def table_4() -> UtilityGap:
    accuracy = {
        (row["model"], row["size"], row["domain"]): float(row["acc"])
        for row in published("captionqa_tables_11_26.csv")
        if row["prompt"] == "simple"
    }
    runs = []
    for row in published("captionqa_table_4.csv"):
        captions = [accuracy[row["model"], row["size"], domain] for domain in DOMAINS]
        images = [
            sum(pair) for pair in zip(captions, (float(row[d]) for d in DOMAINS), strict=True)
        ]
        runs.append(AnsweredRun(row["model"], "simple", answered(captions), answered(images)))
    places = range(QUESTIONS)
    asked = [question(place, domain, per_picture=100) for domain in DOMAINS for place in places]
    return utility_gap(answer_set(*runs, questions=asked))


def test_gaps_of_table_4(table_4: UtilityGap) -> None:
    """The text prints the overall gaps 9.2 to 16.4 (proprietary), 11 and 32.4 (open source)."""
    found = {one.name: one.domains for one in table_4.runs}
    for row in published("captionqa_table_4.csv"):
        gaps = {part.domain: part.gap.value for part in found[row["model"]]}
        assert [gaps[domain] for domain in DOMAINS] == [
            pytest.approx(float(row[domain]), abs=0.005) for domain in DOMAINS
        ]
    overall = {name: parts[0] for name, parts in found.items()}
    printed = {
        "GPT-5": 9.2,
        "Claude Sonnet 4.5": 16.4,
        "Qwen3-VL": 11.0,
        "LLaVA-OneVision": 32.4,
    }
    for name, gap in printed.items():
        assert overall[name].gap.value == pytest.approx(gap, abs=0.05)
    # "GPT-5 reaches close to 98% accuracy on QA-on-image", about 9% over LLaVA-OneVision, which is
    # 1.1% under Claude: their captions are 32.3% and 17.2% apart.
    assert overall["GPT-5"].on_image == pytest.approx(98, abs=0.2)
    for name, on_image, on_caption in (("GPT-5", 9, 32.3), ("Claude Sonnet 4.5", 1.1, 17.2)):
        one, other = overall[name], overall["LLaVA-OneVision"]
        assert apart(one, other, "on_image") == pytest.approx(on_image, abs=0.06)
        assert apart(one, other, "on_caption") == pytest.approx(on_caption, abs=0.1)


def apart(one: DomainGap, other: DomainGap, name: str) -> float:
    return getattr(one, name) - getattr(other, name)


def test_ranks_that_table_4_changes(table_4: UtilityGap) -> None:
    ranking = table_4.ranking
    assert ranking is not None
    assert [(one.name, one.place_before, one.place_after) for one in ranking.changes] == [
        ("GPT-5", 1, 1),
        ("Gemini 2.5 Pro", 2, 2),
        ("Qwen3-VL", 3, 3),
        ("InternVL3.5", 4, 5),
        ("GLM-4.1V", 5, 4),
        ("Claude Sonnet 4.5", 6, 6),
        ("LLaVA-OneVision", 7, 7),
    ]


def test_only_questions_with_both_scores_count() -> None:
    found = utility_gap(answer_set(run("a", "RWC-RR", on_image="RRR-W-"), run("b", "RRRRRR")))
    (gap,) = found.runs
    overall, natural = gap.domains
    assert (overall.questions, overall.on_image, overall.on_caption) == (4, 75, 50)
    assert overall.gap.value == natural.gap.value == 25
    assert overall.gap.low is not None
    # Cannot answer has partial credit: (1 - .3 + 1 - 1) / 4.
    assert overall.score_gap == pytest.approx(17.5)


def test_nobody_was_asked_about_the_pictures() -> None:
    found = utility_gap(answer_set(run("a", "RW")))
    assert found.runs == ()
    assert "--qa" in found.remark
