"""Compares verdicts of several judges or readers, and of people, about the same captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from caliper.analysis.agreement import Agreement, RatedQuestion, measure_agreement
from caliper.analysis.choice import JudgeCandidate, ModelChoice, Throughput, choice
from caliper.benchmarks.registry import benchmark
from caliper.cli.labels import Labels, Possible, label_of
from caliper.core.errors import InvalidInput
from caliper.core.report import Estimate, Path, VerdictRow
from caliper.local.directory import RunDirectory
from caliper.local.reports import read_figures, read_report
from caliper.pipeline.comparing.comparison import differences

ALL = "all"
"""The name for all dimensions of a benchmark together."""
_CANNOT: Path = ("overall", "cannot")


@dataclass(frozen=True, slots=True)
class Opinions:
    """The verdicts of each run, and the possible scores of the questions."""

    verdicts: Sequence[Sequence[VerdictRow]]
    possible: Possible

    def agreements(self, people: Sequence[Labels] = ()) -> dict[str, dict[str, Agreement]]:
        """The agreement per benchmark and dimension, and over all dimensions of each benchmark.

        Questions that are measured, not judged, are left out: they do not depend on the judge.
        """
        labels_of_runs = [
            {(row.question_id, row.repeat): label_of(row.score) for row in run}
            for run in self.verdicts
        ]
        rows = {(row.question_id, row.repeat): row for run in self.verdicts for row in run}
        questions_by: dict[str, dict[str, list[RatedQuestion]]] = {}
        for key, row in rows.items():
            if not self.possible[row.question_id]:
                continue
            labels = tuple(run.get(key) for run in (*labels_of_runs, *people))
            question = RatedQuestion(row.cluster, labels)
            parts = questions_by.setdefault(row.benchmark, {ALL: []})
            parts[ALL].append(question)
            parts.setdefault(row.dimension, []).append(question)
        return {
            name: {
                dimension: measure_agreement(questions) for dimension, questions in parts.items()
            }
            for name, parts in questions_by.items()
        }

    def with_first(self, place: int) -> Opinions:
        """The opinions of only the first run and the run at `place`."""
        return Opinions((self.verdicts[0], self.verdicts[place]), self.possible)


async def choices(
    directories: Sequence[RunDirectory], opinions: Opinions, blank: Sequence[RunDirectory]
) -> list[ModelChoice]:
    """Compare the judge or reader of each run with that of the first, per benchmark of the first.

    `blank` are runs of some of the readers over captions without information.
    """
    figures = [await read_figures(directory) for directory in directories]
    (first, base), *others = figures
    apart_from_first = [{}, *await differences(base, [run for _, run in others])]
    cannot_shares = await _blank(blank)
    candidates_by: dict[str, list[JudgeCandidate]] = {part.name: [] for part in first.benchmarks}
    for place, (directory, (report, _)) in enumerate(zip(directories, figures, strict=True)):
        apart = apart_from_first[place]
        agreements = opinions.with_first(place).agreements() if place else {}
        for part in report.benchmarks:
            if part.name not in candidates_by:
                continue
            model = part.models[benchmark(part.name).role]
            candidates_by[part.name].append(
                JudgeCandidate(
                    run=directory.path.name,
                    name=model,
                    part=part,
                    differences=apart.get(part.name, {}),
                    agreement=agreements.get(part.name, {}).get(ALL),
                    pace=_pace(directory, model),
                    blank=cannot_shares.get((part.name, model)),
                )
            )
    return [choice(candidates) for candidates in candidates_by.values()]


def _pace(directory: RunDirectory, model: str) -> Throughput | None:
    """The throughput of a model according to execution.json.

    None if no model was called: for rules and recorded replies, and if all replies were stored.
    """
    execution = directory.read_execution()
    try:
        usage, seconds = execution["models"][model], float(execution["seconds"])
        replies = int(usage["calls"]) - int(usage["failed"])
        tokens = int(usage["prompt_tokens"]) + int(usage["completion_tokens"])
    except (KeyError, TypeError, ValueError):
        return None
    if replies <= 0 or seconds <= 0:
        return None
    return Throughput(replies / seconds, tokens / replies if tokens else None)


async def _blank(directories: Sequence[RunDirectory]) -> Mapping[tuple[str, str], Estimate]:
    """How often each reader answers that the caption does not say, by benchmark and reader.

    Raises InvalidInput for a run whose captions are not all the same text: they may hold
    information.
    """
    shares = {}
    for directory in directories:
        for name, texts in directory.read_captions().items():
            if len(set(texts.values())) > 1:
                raise InvalidInput(
                    f"its captions of {name} differ; a blank run has one text, such as the empty "
                    "one, for every picture",
                    file=str(directory.path),
                    field="--blank",
                )
        for part in (await read_report(directory)).benchmarks:
            if _CANNOT in part.estimates:
                model = part.models[benchmark(part.name).role]
                shares[part.name, model] = part.estimates[_CANNOT]
    return shares
