"""The verdicts of several judges about the same captions, as tables of ratings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from caliper.analysis.agreement import NO_LABEL, Codes, Places, RatingTable
from caliper.analysis.capability.verdict_sets import JudgedRun, Scores, VerdictSet

LABELS = ("not mentioned", "stated", "wrong")
ALL = "all"
_SCORES = (0.0, 1.0, -1.0)


def codes_of(scores: Scores) -> Codes:
    """The place of each score's label in `LABELS`."""
    codes = np.full(scores.shape, NO_LABEL, dtype=np.int16)
    for place, score in enumerate(_SCORES):
        codes[scores == score] = place
    return codes


def rating_tables(setups: Sequence[VerdictSet]) -> dict[str, RatingTable]:
    """The ratings of each task, then of all, with a column per setup. A row is an element in a
    repeat, of runs with one name.
    """
    first = setups[0]
    columns = [_columns(first, verdicts) for verdicts in setups]
    names = dict.fromkeys(run.name for verdicts in setups for run in verdicts.runs)
    by_name = [
        _judged(first, columns, [_named(verdicts, name) for verdicts in setups]) for name in names
    ]
    tables = {
        task: _joined(
            [codes[mask].reshape(-1, len(setups)) for codes in by_name],
            [np.repeat(first.clusters[mask], codes.shape[1]) for codes in by_name],
        )
        for task, mask in first.tasks.items()
    }
    parts = list(tables.values())
    return {**tables, ALL: _joined([one.codes for one in parts], [one.clusters for one in parts])}


def _joined(codes: Sequence[Codes], clusters: Sequence[Places]) -> RatingTable:
    return RatingTable(LABELS, np.concatenate(codes), np.concatenate(clusters))


def _named(verdicts: VerdictSet, name: str) -> JudgedRun | None:
    return next((run for run in verdicts.runs if run.name == name), None)


def _columns(first: VerdictSet, verdicts: VerdictSet) -> Places:
    """The columns of the first setup's elements in another one; -1 for none."""
    places = {each.key: place for place, each in enumerate(verdicts.elements)}
    return np.array([places.get(each.key, -1) for each in first.elements], dtype=np.int_)


def _judged(
    first: VerdictSet, columns: Sequence[Places], runs: Sequence[JudgedRun | None]
) -> Codes:
    """The codes of one name's verdicts by element, repeat and setup: about its captions in the
    first setup that has them.
    """
    repeats = min(len(run.scores) for run in runs if run is not None)
    codes = np.full((len(first.elements), repeats, len(runs)), NO_LABEL, dtype=np.int16)
    captions: dict[str, str] = {}
    for run in reversed(runs):
        captions |= run.digests if run is not None else {}
    for place, (run, column) in enumerate(zip(runs, columns, strict=True)):
        if run is None:
            continue
        same = {sample for sample, digest in run.digests.items() if digest == captions[sample]}
        here = np.array([each.sample in same for each in first.elements], dtype=np.bool_)
        here &= column >= 0
        codes[here, :, place] = codes_of(run.scores[:repeats, column[here]].T)
    return codes
