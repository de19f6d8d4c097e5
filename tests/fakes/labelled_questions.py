"""Questions with verdicts of a judge and labels of people, whose true figures are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from caliper.analysis.label_sample import LabelUnit, draw_for_labels
from caliper.analysis.prediction_powered import LabelledQuestions
from caliper.analysis.sequential.measure import Array, Codes, Measure

PER_MEDIUM = 4


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Questions, four per medium, one of each of up to four strata."""

    strata: Codes
    media: Codes
    truth: Array
    verdicts: Array
    doubtful: Array

    def labelled(self, measure: Measure, size: int, seed: str) -> LabelledQuestions:
        """The questions with people's labels of a sample by doubt; `size` are of each stratum."""
        units = [
            LabelUnit(str(place), str(stratum), bool(doubtful))
            for place, (stratum, doubtful) in enumerate(
                zip(self.strata, self.doubtful, strict=True)
            )
        ]
        probability = np.full(len(units), np.nan)
        for name, share in draw_for_labels(units, size, seed).items():
            probability[int(name)] = share
        labels = measure.pairs(self.truth)
        labels[np.isnan(probability)] = np.nan
        verdicts = measure.pairs(self.verdicts)
        return LabelledQuestions(self.strata, self.media, verdicts, labels, probability)

    def figure(self, measure: Measure) -> float:
        """The mean over strata of the figure by people's labels of all."""
        pairs = measure.pairs(self.truth)
        parts = [pairs[self.strata == one].mean(axis=0) for one in np.unique(self.strata)]
        return float(np.mean([measure.at(*part.reshape(2, 1))[0] for part in parts]))


def judged(draw: Generator, media: int, strata: int, wrong: float) -> Judged:
    """Some media are harder than others. The judge guesses a share of its verdicts: 3 `wrong` of
    the doubtful quarter, half of `wrong` of the others.
    """
    count = media * PER_MEDIUM
    place = np.arange(count)
    ease = draw.beta(2.0, 2.0, size=media)[place // PER_MEDIUM]
    missed = np.where(draw.random(count) < 0.6, 0.0, -1.0)
    truth = np.where(draw.random(count) < ease, 1.0, missed)
    doubtful = draw.random(count) < 0.25
    guessed = draw.random(count) < wrong * np.where(doubtful, 3, 0.5)
    # It guesses too kindly.
    verdicts = np.where(guessed, draw.choice([0.0, 1.0, 1.0], size=count), truth)
    return Judged(place % strata, place // PER_MEDIUM, truth, verdicts, doubtful)
