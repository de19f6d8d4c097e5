"""What lexical rules know of the verdicts of the bench thirty."""

from bench.thirty.captioner import RATES, Quality
from bench.thirty.questions import RULES_KNOW, ColourQuestions
from bench.thirty.savings import changes, squared_correlation

LEAST = 0.5


def test_rules_know_of_simulated_verdicts_at_most_what_they_know_of_real_ones() -> None:
    benchmark = ColourQuestions(pictures=8, questions=30)
    before, after = (
        Quality(f"step={seed}", seed, dict.fromkeys(RATES, loss))
        for seed, loss in ((0, 0.0), (1, 0.03))
    )
    verdicts = [dict(enumerate(benchmark.verdicts(each).values())) for each in (before, after)]
    rules = [dict(enumerate(benchmark.rules(each).values())) for each in (before, after)]
    known = {
        "verdicts": squared_correlation(zip(verdicts, rules, strict=True)),
        "changes": squared_correlation([(changes(*verdicts), changes(*rules))]),
    }
    for name, most in RULES_KNOW.items():
        assert LEAST * most < known[name] <= most
