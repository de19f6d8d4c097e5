"""The stability of rankings of paper 11, and the rankings of Table 3."""

import numpy as np
import pytest
from scipy import stats
from tests.fakes.answer_sets import answer_set, question, run
from tests.fakes.sources import published

from caliper.analysis.captionqa.answers import AnswerSet
from caliper.analysis.captionqa.ranking_stability import ranking_stability
from caliper.analysis.rankings import compare_rankings, kendall, spearman


def models(qualities: list[float], count: int = 400) -> AnswerSet:
    """Models that are right this often, over pictures of two domains."""
    generator = np.random.default_rng(7)
    domains = ("natural", "document")
    questions = [question(place, domains[place % 4 // 2]) for place in range(count)]
    rows = ("".join("R" if x < q else "W" for x in generator.random(count)) for q in qualities)
    runs = (run(f"m{place}", row) for place, row in enumerate(rows))
    return answer_set(*runs, questions=questions)


def test_coefficients_are_those_of_scipy() -> None:
    generator = np.random.default_rng(3)
    reference, rows = generator.integers(0, 6, 12) * 1.0, generator.integers(0, 6, (20, 12)) * 1.0
    expected = [stats.kendalltau(reference, row).statistic for row in rows]
    assert kendall(reference, rows) == pytest.approx(expected)
    expected = [stats.spearmanr(reference, row).statistic for row in rows]
    assert spearman(reference, rows) == pytest.approx(expected)
    assert np.isnan(kendall(reference, np.ones((1, 12)))).all()


def test_models_far_apart_keep_their_order_on_few_questions() -> None:
    found = ranking_stability(models([0.05, 0.5, 0.95]), {}, draws=20)
    by_size = {(row.scope, row.unit, row.share): row for row in found.subsets}
    row = by_size["overall", "pictures", 0.1]
    assert (row.units, row.kendall.value, row.spearman.low, row.same_best) == (20, 1, 1, 100)
    assert by_size["document", "pictures", 0.5].units == 50
    assert by_size["overall", "questions", 0.5].units == 200
    assert ("natural", "questions", 0.5) not in by_size


def test_close_models_need_more_questions() -> None:
    answers = models([0.50, 0.52, 0.54, 0.56, 0.58])
    found = ranking_stability(answers, {}, draws=50)
    taus = [
        row.kendall for row in found.subsets if (row.scope, row.unit) == ("overall", "pictures")
    ]
    values = [tau.value for tau in taus]
    assert values == sorted(values)
    assert values[0] < values[-1] < 1
    assert taus[0].low < taus[0].value < taus[0].high
    assert found == ranking_stability(answers, {}, draws=50)


def test_the_ranking_in_another_setup() -> None:
    here = answer_set(run("a", "RRRR"), run("b", "RRRW"), run("c", "RRWW"), run("d", "WWWW"))
    there = answer_set(run("b", "RRRR"), run("a", "RRRW"), run("c", "RWWW"))
    found = ranking_stability(here, {("seed: 0 / 1",): there}, draws=1)
    (setup,) = found.setups
    assert [(one.name, one.place_before, one.place_after) for one in setup.ranking.changes] == [
        ("a", 1, 2),
        ("b", 2, 1),
        ("c", 3, 3),
    ]
    assert setup.ranking.correlation.kendall.value == pytest.approx(1 / 3, abs=1e-6)


def test_one_run_has_no_ranking() -> None:
    found = ranking_stability(answer_set(run("a", "RW")), {})
    assert found.subsets == ()
    assert "two or more runs" in found.remark


def test_rankings_of_table_3() -> None:
    """Paper 5: GPT-5 leads on Simple, Gemini 2.5 Pro on Long. Eight models have both in print."""
    scores: dict[str, dict[str, float]] = {}
    for row in published("captionqa_table_3.csv"):
        name = f"{row['model']} {row['size']}"
        scores.setdefault(row["prompt"], {})[name] = float(row["overall"])
    found = compare_rankings(scores["simple"], scores["long"])
    assert [(one.name, one.place_after) for one in found.changes] == [
        ("GPT-5 -", 1),
        ("Qwen3-VL 30B-A3B", 2),
        ("GLM-4.1V 9B", 3),
        ("Qwen2.5-VL 32B", 4),
        ("InternVL3.5 38B", 6),
        ("Claude Sonnet 4.5 -", 5),
        ("NVLM-D 72B", 7),
        ("LLaVA-OneVision 7B", 8),
    ]
    # One of 28 pairs is in the other order.
    assert found.correlation.kendall.value == pytest.approx(1 - 2 / 28, abs=1e-6)
