"""Opinions about the same captions: those of several judges or readers, and of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from caliper.analysis.agreement import Agreement, RatedQuestion, agree
from caliper.analysis.choice import Candidate, ModelChoice, Throughput, choice
from caliper.benchmarks.registry import benchmark
from caliper.cli.labels import Labels, Possible, label_of
from caliper.core.errors import InvalidInput
from caliper.core.report import Estimate, Path, VerdictRow
from caliper.local.directory import RunDirectory
from caliper.local.reports import read_figures, read_report
from caliper.pipeline.comparing.comparison import differences

ALL = "all"
"""The name of what is over all dimensions of a benchmark."""
_CANNOT: Path = ("overall", "cannot")


@dataclass(frozen=True, slots=True)
class Opinions:
    """The verdicts of each run, and the scores that its questions can have."""

    verdicts: Sequence[Sequence[VerdictRow]]
    possible: Possible

    def agreements(self, people: Sequence[Labels] = ()) -> dict[str, dict[str, Agreement]]:
        """By benchmark and dimension, and over all dimensions of each benchmark. What is measured
        and not judged is left out: it is the same whoever judges.
        """
        told = [
            {(row.question_id, row.repeat): label_of(row.score) for row in run}
            for run in self.verdicts
        ]
        known = {(row.question_id, row.repeat): row for run in self.verdicts for row in run}
        rated: dict[str, dict[str, list[RatedQuestion]]] = {}
        for key, row in known.items():
            if not self.possible[row.question_id]:
                continue
            labels = tuple(run.get(key) for run in (*told, *people))
            question = RatedQuestion(row.cluster, labels)
            parts = rated.setdefault(row.benchmark, {ALL: []})
            parts[ALL].append(question)
            parts.setdefault(row.dimension, []).append(question)
        return {
            name: {dimension: agree(questions) for dimension, questions in parts.items()}
            for name, parts in rated.items()
        }

    def beside_the_first(self, place: int) -> Opinions:
        """Those of the first run and of another one alone."""
        return Opinions((self.verdicts[0], self.verdicts[place]), self.possible)


async def choices(
    directories: Sequence[RunDirectory], opinions: Opinions, blank: Sequence[RunDirectory]
) -> list[ModelChoice]:
    """The judges or readers of each benchmark of the first run, beside that one's; `blank` are
    runs of some of them over captions that tell nothing.
    """
    specs = [directory.read_spec() for directory in directories]
    kept = [await read_figures(directory) for directory in directories]
    (first, base), *_ = kept
    empty = await _blank(blank)
    found: dict[str, list[Candidate]] = {part.name: [] for part in first.benchmarks}
    for place, (directory, (report, totals)) in enumerate(zip(directories, kept, strict=True)):
        apart = differences(base, totals, (specs[0], specs[place])) if place else {}
        agreements = opinions.beside_the_first(place).agreements() if place else {}
        for part in report.benchmarks:
            if part.name not in found:
                continue
            who = part.models[benchmark(part.name).role]
            found[part.name].append(
                Candidate(
                    run=directory.path.name,
                    who=who,
                    part=part,
                    differences=apart.get(part.name, {}),
                    agreement=agreements.get(part.name, {}).get(ALL),
                    pace=_pace(directory, who),
                    blank=empty.get((part.name, who)),
                )
            )
    return [choice(candidates) for candidates in found.values()]


def _pace(directory: RunDirectory, who: str) -> Throughput | None:
    """How fast a model answered, as execution.json tells; None for what was not asked by us, such
    as rules and recorded replies, and where every reply was in the store.
    """
    written = directory.read_execution()
    try:
        spent, seconds = written["models"][who], float(written["seconds"])
        replies = int(spent["calls"]) - int(spent["failed"])
        tokens = int(spent["prompt_tokens"]) + int(spent["completion_tokens"])
    except (KeyError, TypeError, ValueError):
        return None
    if replies <= 0 or seconds <= 0:
        return None
    return Throughput(replies / seconds, tokens / replies if tokens else None)


async def _blank(directories: Sequence[RunDirectory]) -> Mapping[tuple[str, str], Estimate]:
    """How often each reader says that the caption does not tell, by benchmark and reader.

    Raises InvalidInput for a run whose captions are not one and the same text: then they may tell
    something.
    """
    found = {}
    for directory in directories:
        for name, texts in directory.read_captions().items():
            if len(set(texts.values())) > 1:
                raise InvalidInput(
                    f"its captions of {name} differ; those that tell nothing are one text, such "
                    "as the empty one, for every picture",
                    file=str(directory.path),
                    field="--blank",
                )
        for part in (await read_report(directory)).benchmarks:
            if _CANNOT in part.estimates:
                who = part.models[benchmark(part.name).role]
                found[part.name, who] = part.estimates[_CANNOT]
    return found
