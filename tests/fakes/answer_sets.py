"""Answers of runs, written as one letter per question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from caliper.analysis.captionqa.answers import AnsweredRun, AnswerSet, AskedQuestion, Scores

_SCORES = {"R": 1.0, "W": 0.0, "C": 0.3, "-": np.nan}


def question(
    place: int, domain: str = "natural", category: str = "Spatial", per_picture: int = 2
) -> AskedQuestion:
    """A question of four choices."""
    picture = f"{domain[:3]}_{place // per_picture}"
    return AskedQuestion(
        picture, place, 0, picture, domain, category, has_cannot=True, text=f"Question {place}?"
    )


def letters(text: str) -> Scores:
    """R(ight), W(rong), C(annot answer), or - without a score."""
    return np.array([_SCORES[letter] for letter in text])


def run(
    model: str,
    answers: str,
    prompt: str = "simple",
    on_image: str = "",
    words: Mapping[str, int] | None = None,
) -> AnsweredRun:
    return AnsweredRun(
        model, prompt, letters(answers), letters(on_image) if on_image else None, words or {}
    )


def answer_set(
    *runs: AnsweredRun, questions: Sequence[AskedQuestion] = (), reading: str = "domains"
) -> AnswerSet:
    """Runs over these questions, by default all of one domain and category."""
    asked = questions or [question(place) for place in range(len(runs[0].scores))]
    return AnswerSet(tuple(asked), runs, reading)
