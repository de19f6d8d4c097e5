import csv
import io
from dataclasses import replace

from caliper.adapters.exports.choice import choice_csv, choice_markdown
from caliper.analysis.agreement import Agreement, Coefficient
from caliper.analysis.choice import JudgeCandidate, choice
from caliper.analysis.compare import Difference
from caliper.core.report import BenchmarkReport, Coverage, Estimate

SCORE, STD, COUNT = ("overall", "score"), ("overall", "std_score"), ("overall", "n_scored")
AGREED = Agreement(
    questions=8,
    clusters=4,
    labels=("0", "1"),
    accuracy=Coefficient(0.75, 0.5, 1.0),
    fleiss=Coefficient(0.5),
    alpha=Coefficient(0.5),
    cohen=Coefficient(0.5, 0.1, 0.9),
)


def part(score: float, *, repeated: bool = False) -> BenchmarkReport:
    estimates = {
        SCORE: Estimate(score, score - 5, score + 5, "cluster"),
        COUNT: Estimate(8),
        ("domains", "natural", "score"): Estimate(score, method="cluster"),
    }
    if repeated:
        estimates[STD] = Estimate(0.5)
    return BenchmarkReport("captionqa", "CaptionQA", SCORE, estimates, (), Coverage(8, 8))


FIRST = JudgeCandidate("runs|a", "reader a", part(70.0))
SECOND = JudgeCandidate(
    "b",
    "reader b",
    part(60.0, repeated=True),
    {SCORE: Difference(70.0, 60.0, -10.0, -12.0, -8.0, p=0.01)},
    AGREED,
)


def test_figures_of_the_headlines_row_and_deviations_but_no_counts() -> None:
    assert choice([FIRST, SECOND]).paths == (SCORE, STD)
    assert choice([FIRST]).paths == (SCORE,)


def test_one_row_a_figure() -> None:
    rows = list(csv.DictReader(io.StringIO(choice_csv([choice([FIRST, SECOND])]))))
    told = {(row["run"], row["figure"]): row for row in rows}
    assert told["b", "overall.score"]["difference"] == "-10.0"
    assert told["b", "overall.score"]["p"] == "0.01"
    assert told["runs|a", "overall.score"]["difference"] == ""
    assert told["runs|a", "overall.std_score"]["value"] == ""
    assert told["b", "agreement"]["low"] == "0.5"
    assert told["b", "Cohen's kappa"]["value"] == "0.5"
    assert ("runs|a", "agreement") not in told
    assert told["b", "coverage"]["value"] == "1.0"


def test_a_run_may_be_named_like_a_formula() -> None:
    assert ",'=1+1," in choice_csv([choice([replace(FIRST, run="=1+1")])])


def test_one_row_a_run_for_people() -> None:
    lines = choice_markdown([choice([FIRST, SECOND])]).splitlines()
    (first,) = [line for line in lines if "reader a" in line]
    (second,) = [line for line in lines if "reader b" in line]
    assert "no data" in first
    # A bar in a name would end its cell.
    assert r"runs\|a" in first
    assert "\N{MINUS SIGN}10.00 (\N{MINUS SIGN}12.00 to \N{MINUS SIGN}8.00)" in second
    assert "0.50 (0.10 to 0.90)" in second
