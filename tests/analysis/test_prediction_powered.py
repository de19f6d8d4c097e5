"""Figures by people's labels, by hand and beside the library of PPI++'s authors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.fakes.labelled_questions import judged

from caliper.analysis.jackknife import student
from caliper.analysis.prediction_powered import (
    LabelledQuestions,
    PeopleEstimate,
    estimate_by_people,
)
from caliper.analysis.sequential.measure import Measure


def questions(
    verdicts: list[float], labels: list[float | None], probability: list[float | None]
) -> LabelledQuestions:
    """Questions of one stratum, each about a medium of its own; None stands for nan."""
    none = np.array([np.nan, np.nan])
    pairs = [none if one is None else Measure.MEAN.pairs([one])[0] for one in labels]
    return LabelledQuestions(
        strata=np.zeros(len(verdicts), dtype=np.intp),
        media=np.arange(len(verdicts)),
        verdicts=Measure.MEAN.pairs(verdicts),
        labels=np.array(pairs),
        probability=np.array(probability, dtype=np.float64),
    )


def test_a_judge_that_always_says_the_same_leaves_the_mean_of_people() -> None:
    # 40 of 120 are labelled, 30 of them right: s^2 = 40/39 3/4 1/4, and one more contradiction
    # adds 1/40. The rest of the population takes a third of the variance away.
    labels = [*[1.0] * 30, *[0.0] * 10, *[None] * 80]
    drawn = [*[40 / 120] * 40, *[None] * 80]
    found = estimate_by_people(questions([1.0] * 120, labels, drawn), [1.0], Measure.MEAN)
    variance = (40 / 39 * 3 / 16 + 1 / 40) / 40 * (1 - 1 / 3)
    assert (found.value, found.judge, found.people) == pytest.approx((0.75, 1.0, 0.75))
    assert found.these[0] == pytest.approx(0.75 - student(39) * variance**0.5)
    assert found.these[1] == pytest.approx(0.75 + student(39) * variance**0.5)
    assert found.like_these[0] < found.these[0]
    assert (found.labels, found.questions, found.media) == (40, 120, 120)


def test_probabilities_weigh_the_labels() -> None:
    # 30 of 60 likely questions are right, none of 30 drawn from 240 others: (30 2 + 0) / 300.
    labels = [*[1.0] * 30, *[0.0] * 30, *[0.0] * 30, *[None] * 210]
    drawn = [*[1.0] * 60, *[30 / 240] * 30, *[None] * 210]
    found = estimate_by_people(questions([0.0] * 300, labels, drawn), [1.0], Measure.MEAN)
    assert found.value == pytest.approx(30 / 300)
    # People who stop half-way change nothing: what is missing is missing at random.
    some = [*labels[15:45], *[None] * 30, *labels[60:75], *[None] * 225]
    half = [*drawn[15:45], *[None] * 30, *drawn[60:75], *[None] * 225]
    found = estimate_by_people(questions([0.0] * 300, some, half), [1.0], Measure.MEAN)
    assert found.value == pytest.approx(15 / 150)


def test_labels_of_everything_leave_no_doubt_about_these_questions() -> None:
    labels = [1.0] * 25 + [0.0] * 15
    found = estimate_by_people(questions([1.0] * 40, labels, [1.0] * 40), [1.0], Measure.MEAN)
    assert found.these == pytest.approx((0.625, 0.625))
    assert found.like_these[1] - found.like_these[0] > 0.3
    few = estimate_by_people(questions([1.0] * 8, labels[20:28], [1.0] * 8), [1.0], Measure.MEAN)
    assert few.these == pytest.approx((0.625, 0.625))


def test_agreement_on_every_label_is_no_certainty() -> None:
    labels = [*[1.0] * 20, *[0.0] * 10, *[None] * 270]
    verdicts = [*[1.0] * 20, *[0.0] * 10, *[1.0] * 180, *[0.0] * 90]
    drawn = [*[0.1] * 30, *[None] * 270]
    found = estimate_by_people(questions(verdicts, labels, drawn), [1.0], Measure.MEAN)
    assert found.value == pytest.approx(2 / 3, abs=0.001)
    assert 0.1 < found.these[1] - found.these[0] < 0.2


def test_too_few_labels_and_labels_without_a_probability_are_refused() -> None:
    few = questions([1.0] * 60, [*[1.0] * 29, *[None] * 31], [0.5] * 60)
    with pytest.raises(ValueError, match="1 labels too few"):
        estimate_by_people(few, [1.0], Measure.MEAN)
    unknown = questions([1.0] * 60, [*[1.0] * 30, *[None] * 30], [*[0.5] * 29, *[None] * 31])
    with pytest.raises(ValueError, match="not drawn at random"):
        estimate_by_people(unknown, [1.0], Measure.MEAN)


def width_of(found: PeopleEstimate) -> float:
    return found.these[1] - found.these[0]


def test_more_labels_reach_a_width() -> None:
    made = judged(np.random.default_rng(4), media=500, strata=1, wrong=0.2)
    ratios = []
    for path in range(20):
        some = made.labelled(Measure.F1, 150, f"path {path}")
        width = width_of(estimate_by_people(some, [1.0], Measure.F1)) / 2
        needed = estimate_by_people(some, [1.0], Measure.F1, width=width).labels_needed
        assert needed is not None
        assert 200 < needed < 600
        more = made.labelled(Measure.F1, 150 + needed, f"path {path}")
        ratios.append(width_of(estimate_by_people(more, [1.0], Measure.F1)) / width)
    assert 0.9 < np.mean(ratios) < 1.05
    # All of it is needed for certainty, and nothing more for what has been reached.
    everything = estimate_by_people(some, [1.0], Measure.F1, width=0.0).labels_needed
    assert everything == pytest.approx(2000 - 150, abs=20)
    assert estimate_by_people(some, [1.0], Measure.F1, width=3 * width).labels_needed == 0


def test_the_estimate_is_that_of_the_authors_of_ppi_plus_plus() -> None:
    # By ppi-python 0.2.3: ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) of these labels, their
    # 200 verdicts and the other 1,800. Its factor l is not fitted on other folds and has no ridge;
    # its interval has neither Student's quantile nor a further contradiction.
    draw = np.random.default_rng(5)
    truth = (draw.random(2000) < 0.6).astype(float)
    verdicts = np.where(draw.random(2000) < 0.15, 1 - truth, truth).tolist()
    labels = [*truth[:200].tolist(), *[None] * 1800]
    drawn = [*[0.1] * 200, *[None] * 1800]
    found = estimate_by_people(questions(verdicts, labels, drawn), [1.0], Measure.MEAN)
    assert found.value == pytest.approx(0.6498371, abs=0.002)
    assert found.like_these == pytest.approx((0.60073522, 0.69893898), abs=0.004)
    low, high = found.like_these
    assert 1 < (high - low) / (0.69893898 - 0.60073522) < 1.05
