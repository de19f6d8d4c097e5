"""What decisions on the recorded verdicts would have cost with parts of the method switched off."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from bench.sequential.recorded_pair import RecordedPair
from bench.thirty.captioner import Quality, chance
from bench.thirty.questions import DOMAINS, ColourQuestions, place_of
from caliper.analysis.sequential import (
    Finding,
    KnownScores,
    SequentialComparison,
    StopCheck,
    StopTarget,
    Unit,
    draw_order,
)
from caliper.analysis.sequential.bound import SPREAD, share_needed
from caliper.analysis.sequential.strata import Scores
from caliper.local.baseline_runs import SHARE

ALPHA, MARGIN, TASK_MARGIN = 0.05, 0.01, 0.05
_WITHOUT_REGRESSION = 1e12


@dataclass(frozen=True, slots=True)
class Way:
    """A way to decide. `regression`: the baseline is a control with a fitted coefficient. `rules`:
    so are those of the lexical reader on both captions. `reuse`: what is asked about captions that
    are the baseline's word for word is known.
    """

    name: str
    regression: bool = False
    rules: bool = False
    reuse: bool = False


WAYS = (
    Way("early stop"),
    Way("+ baseline", regression=True),
    Way("+ rules", regression=True, rules=True),
    Way("+ reuse", regression=True, rules=True, reuse=True),
)


@dataclass(frozen=True, slots=True)
class RecordedCheckpoint:
    """The verdicts of a checkpoint and of its baseline, by index, and those of `rules` on the
    captions of baseline and checkpoint. `same` are about captions that both have. `gain` was set
    between the two, in points; `difference` is the true one, `tasks` those of the domains.
    """

    name: str
    gain: float
    pair: RecordedPair
    rules: tuple[Scores, Scores]
    same: frozenset[int]
    difference: float
    tasks: tuple[float, ...]

    def is_worse(self, *, tasks: bool) -> bool:
        """Whether all verdicts say that it drops by more than a margin."""
        worst = self.difference < -100 * MARGIN
        return worst or (tasks and min(self.tasks) < -100 * TASK_MARGIN)


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision, and how many questions it took: `blocks` with all of each block, as the loop asks
    them, `asked` with those only that a check is still open for.
    """

    finding: Finding
    blocks: int
    asked: int


class RecordedVerdicts:
    """The verdicts of checkpoints as they were recorded. Those of questions that the loop did not
    ask are what the judge says of the caption, which is known here.
    """

    def __init__(self, benchmark: ColourQuestions, runs: Path, flips: float) -> None:
        self._benchmark, self._runs, self._flips = benchmark, runs, flips
        self._draw = random.Random(1)
        places = [
            (sample, place)
            for sample in benchmark.samples()
            for place in range(benchmark.questions)
        ]
        self.places = {place: index for index, place in enumerate(places)}
        self.units = [
            Unit(index, DOMAINS[sample.partition("_")[0]], sample)
            for index, (sample, _) in enumerate(places)
        ]
        self.mismatches = 0
        self._rules = dict[str, Scores]()

    def of(self, quality: Quality, run: str) -> dict[int, float | None]:
        """The scores of all questions."""
        known = {
            self.places[place]: self._judged(score)
            for place, score in self._benchmark.verdicts(quality).items()
        }
        file = self._runs / run / "verdicts.jsonl"
        scores: dict[int, float | None] = dict(known)
        for line in file.read_text("utf-8").splitlines() if run and file.exists() else ():
            row = json.loads(line)
            if row.get("score") is not None:
                index = self.places[row["item"], place_of(str(row["question"]))]
                self.mismatches += float(row["score"]) != known[index]
                scores[index] = float(row["score"])
        return scores

    def rules(self, quality: Quality) -> Scores:
        """The scores of all questions by the lexical reader."""
        if quality.name not in self._rules:
            found = self._benchmark.rules(quality)
            scores = {self.places[place]: score for place, score in found.items()}
            self._rules[quality.name] = scores
        return self._rules[quality.name]

    def again(self, scores: Mapping[int, float | None]) -> dict[int, float | None]:
        """Some of them, judged once more."""
        chosen = self._draw.sample(sorted(scores), round(SHARE * len(scores)))
        return {index: self._judged(scores[index] or 0.0) for index in chosen}

    def _judged(self, score: float) -> float:
        return 1 - score if self._draw.random() < self._flips else score


def recorded(
    verdicts: RecordedVerdicts,
    qualities: Mapping[str, Quality],
    entry: Mapping[str, Any],
    base: Mapping[str, Any],
) -> RecordedCheckpoint:
    """What was recorded of an entry of the suite and of its baseline."""
    name, before = (each["checkpoint"]["name"] for each in (entry, base))
    one, other = qualities[name], qualities[before]
    scores = verdicts.of(other, base["run"]), verdicts.of(one, entry["run"])
    pair = RecordedPair(verdicts.units, *scores, verdicts.again(scores[0]))
    same = frozenset(
        index
        for (sample, _), index in verdicts.places.items()
        if one.is_same(sample) and other.is_same(sample)
    )
    changes: dict[str, list[float]] = {}
    for unit in verdicts.units:
        change = (pair.after[unit.index] or 0.0) - (pair.before[unit.index] or 0.0)
        changes.setdefault(unit.stratum, []).append(change)
    tasks = tuple(100 * sum(each) / len(each) for each in changes.values())
    gain = round(100 * (other.losses["nat"] - one.losses["nat"]), 6)
    rules = verdicts.rules(other), verdicts.rules(one)
    return RecordedCheckpoint(name, gain, pair, rules, same, sum(tasks) / len(tasks), tasks)


def decide(found: RecordedCheckpoint, way: Way, *, tasks: bool) -> Answer:
    """Decide as the loop does: block by block, until the answer is sure."""
    pair, reused = found.pair, found.same if way.reuse else frozenset[int]()
    strata = dict.fromkeys(DOMAINS.values(), 1 / len(DOMAINS))
    checks = [StopCheck("overall", strata)]
    if tasks:
        checks += [StopCheck(name, {name: 1.0}, margin=TASK_MARGIN) for name in strata]
    known = KnownScores(pair.before, found.rules if way.rules else (), reused, pair.repeats)
    apart = (replace(one, stratum=f"{one.stratum} {one.index in reused}") for one in pair.units)
    blocks = draw_order(list(apart), chance("order", found.name).hex().encode())
    with _regression(on=way.regression):
        comparison = SequentialComparison(
            pair.units, blocks, StopTarget(MARGIN, ALPHA, tuple(checks)), known
        )
        return _answer(comparison, pair, blocks, reused)


def needed(found: RecordedCheckpoint, way: Way) -> int:
    """How many questions a way would ask if every estimate were true, the judge without noise, and
    looks possible after each question.
    """
    columns = [
        np.array([scores[unit.index] or 0.0 for unit in found.pair.units])
        for scores in (found.pair.after, found.pair.before, *found.rules)
    ]
    codes = np.unique([unit.stratum for unit in found.pair.units], return_inverse=True)[1]
    reused = np.array([way.reuse and unit.index in found.same for unit in found.pair.units])
    sampling = 0.0
    for code in range(len(DOMAINS)):
        after, before, *rules = (each[(codes == code) & ~reused] for each in columns)
        change, controls = after - before, [np.ones_like(before)]
        controls += [before] * way.regression + rules * way.rules
        fitted = np.column_stack(controls)
        rest = change - fitted @ np.linalg.lstsq(fitted, change, rcond=None)[0]
        share = len(rest) / np.count_nonzero(codes == code)
        sampling += (share / len(DOMAINS)) ** 2 * float(rest.var()) / len(rest)
    distance = found.difference / 100 + MARGIN
    part = share_needed(distance, 1e-6, sampling, 0.0, (SPREAD * MARGIN**2, ALPHA))
    return round(min(part or 1.0, 1.0) * np.count_nonzero(~reused))


def changes(before: Scores, after: Scores) -> Scores:
    """The change of every score."""
    return {index: (after[index] or 0.0) - (score or 0.0) for index, score in before.items()}


def squared_correlation(pairs: Iterable[tuple[Scores, Scores]]) -> float:
    """That of scores by index, over several pairs of them."""
    columns = [[[one[index] or 0.0, other[index] or 0.0] for index in one] for one, other in pairs]
    return float(np.corrcoef(np.concatenate(columns).T)[0, 1] ** 2)


def _answer(
    comparison: SequentialComparison,
    pair: RecordedPair,
    blocks: Sequence[Sequence[int]],
    reused: frozenset[int],
) -> Answer:
    stratum = {unit.index: unit.stratum for unit in pair.units}
    still, whole, asked = frozenset(stratum.values()), 0, 0
    finding = Finding.UNDECIDED
    for number, block in enumerate(blocks, 1):
        fresh = [index for index in block if index not in reused]
        whole += len(fresh)
        asked += sum(stratum[index] in still for index in fresh)
        look = comparison.look(pair.after, number)
        finding, still = look.finding, look.open_strata
        if finding is not Finding.UNDECIDED:
            break
    return Answer(finding, whole, asked)


@contextmanager
def _regression(*, on: bool) -> Iterator[None]:
    """Without regression, a ridge without end pulls every coefficient to that of a pair."""
    if on:
        yield
        return
    with patch("caliper.analysis.sequential.estimate._RIDGE", _WITHOUT_REGRESSION):
        yield
