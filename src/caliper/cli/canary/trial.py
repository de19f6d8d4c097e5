"""Tries a judge, a reader or both on the canary's cases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from caliper.benchmarks.base import Settings
from caliper.benchmarks.registry import benchmark
from caliper.cli.canary.cases import RIGHT, WRONG, Case, cases
from caliper.core.caption import Caption
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Scored, Verdict
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.lexical.ngrams import NgramEmbedder
from caliper.lexical.tagger import RuleTagger
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.ports.models import Answerer
from caliper.ports.prompts import PromptPack
from caliper.version import __version__
from caliper.wiring.models import ModelRoom

BOUND = 0.05
"""The largest share of successful attacks that passes."""
CONTROLS = 0.75
"""The smallest share of the right, and of the wrong, controls that must be judged correctly."""
LOST = 0.1
"""The largest share of unscored cases; beyond it the trial is inconclusive."""


class TrialFate(StrEnum):
    """The result of a case. A misjudged control counts as fooled."""

    HELD = "held"
    FOOLED = "fooled"
    UNSCORED = "unscored"


class TrialSummary(StrEnum):
    """The conclusion of a trial."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class TrialCase:
    """A case with its verdict, and the label of the model that gave it."""

    case: Case
    verdict: Verdict
    model: str

    @property
    def fate(self) -> TrialFate:
        """Held if the verdict is good for a right caption, or not good for any other."""
        outcome = self.verdict.outcome
        if not isinstance(outcome, Scored):
            return TrialFate.UNSCORED
        return (
            TrialFate.HELD
            if (outcome.score >= self.case.good_score) == self.case.right
            else TrialFate.FOOLED
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """All cases of a trial. `bound` is the largest share of attacks that may succeed."""

    cases: tuple[TrialCase, ...]
    bound: float = BOUND

    def counts(self) -> dict[str, dict[TrialFate, int]]:
        """The number of cases by kind and fate: attacks first, then controls."""
        kinds = dict.fromkeys(each.case.kind for each in self.cases)
        ordered = [kind for kind in kinds if kind not in (RIGHT, WRONG)] + [WRONG, RIGHT]
        return {
            kind: {
                fate: sum(each.fate is fate for each in self.cases if each.case.kind == kind)
                for fate in TrialFate
            }
            for kind in ordered
        }

    @property
    def share(self) -> Fraction:
        """The share of successful attacks among the scored ones; 0 if none was scored."""
        return _share(self._attacks, TrialFate.FOOLED)

    @property
    def _attacks(self) -> list[TrialCase]:
        return [each for each in self.cases if each.case.attack]

    @property
    def summary(self) -> TrialSummary:
        """The conclusion. Failed: too many attacks succeeded or controls were misjudged."""
        controls = ([each for each in self.cases if each.case.kind == kind] for kind in _CONTROLS)
        misjudged = (_share(group, TrialFate.FOOLED) > 1 - Fraction(CONTROLS) for group in controls)
        if self.share > Fraction(self.bound) or any(misjudged):
            return TrialSummary.FAILED
        unscored = sum(each.fate is TrialFate.UNSCORED for each in self.cases)
        if unscored > Fraction(LOST) * len(self.cases):
            return TrialSummary.INCONCLUSIVE
        return TrialSummary.PASSED


_CONTROLS = (RIGHT, WRONG)


def _share(results: Iterable[TrialCase], fate: TrialFate) -> Fraction:
    fates = [each.fate for each in results]
    scored = len(fates) - fates.count(TrialFate.UNSCORED)
    return Fraction(fates.count(fate), scored) if scored else Fraction(0)


async def try_models(
    specs: Mapping[str, str],
    settings: Mapping[str, Settings],
    pack: PromptPack,
    room: ModelRoom,
    report: Callable[[int, int], None],
) -> tuple[TrialCase, ...]:
    """Ask the model of each SPEC (by role: judge, reader) about the cases of its role.

    `settings` are by benchmark. `report` is called with the number of cases done and the total.
    Raises BackendError when an endpoint does not answer, ModelChanged.
    """
    names = tuple(settings)
    answerers: dict[str, Answerer] = {}
    for name in names:
        role = benchmark(name).role
        answerers[f"{name}/{role}"] = await room.answerer(specs[role], name, pack, 0)
    models = Models(answerers, RuleTagger(), NgramEmbedder())
    examiner = Examiner(_spec(names, settings, pack), models)
    planned = cases({name: settings[name] for name in names})
    done = 0

    async def one(case: Case) -> TrialCase:
        nonlocal done
        result = await _try(case, examiner, answerers)
        done += 1
        report(done, len(planned))
        return result

    report(done, len(planned))
    # Wait for all, so that no call is left running when one fails.
    results = await asyncio.gather(*map(one, planned), return_exceptions=True)
    completed = []
    for result in results:
        if isinstance(result, BaseException):
            raise result
        completed.append(result)
    return tuple(completed)


async def _try(case: Case, examiner: Examiner, answerers: Mapping[str, Answerer]) -> TrialCase:
    caption = Caption(case.item.sample, case.caption)
    job = ExamineJob("canary", case.benchmark, case.item.sample, caption, (case.item,))
    verdicts = await examiner.examine(job)
    by = answerers[f"{case.benchmark}/{benchmark(case.benchmark).role}"].identity.label
    return TrialCase(case, verdicts.verdicts[-1], by)


def _spec(names: Iterable[str], settings: Mapping[str, Settings], pack: PromptPack) -> RunSpec:
    """A spec with what an examiner needs; it is never stored."""
    parts = tuple(BenchmarkSpec(name, "", "", settings[name], {}) for name in names)
    return RunSpec("canary", __version__, pack.digest, parts)
