"""What two runs have in common beside their checkpoints, and whether it is enough to compare them.

The judge decides the numbers: differences between runs with another judge, prompts or settings
are not differences between checkpoints (protocols, "Common to all three").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from caliper.core.errors import NotComparable
from caliper.core.report import BenchmarkReport, Report, leaves
from caliper.core.run import RECORDED

OF_THE_CHECKPOINT = ("name", "captions", "replicate")
"""What of a spec is expected to differ between two checkpoints."""
_ROLES_OF_THE_CHECKPOINT = ("captioner", "media")
_ABSENT = "(none)"
# What a status over gRPC can carry beside everything else: some thousand bytes.
_SHOWN, _LONGEST = 10, 80


@dataclass(frozen=True, slots=True)
class Distinction:
    """One thing beside the captions in which two runs differ.

    `kind` is benchmark, model, setting or spec; `benchmark` is empty for spec.
    """

    benchmark: str
    kind: str
    name: str
    first: str
    second: str


def told_apart(labels: Sequence[str], runs: Sequence[str]) -> tuple[str, ...]:
    """What runs are called beside each other: their labels, with the run id where one label is
    several's.
    """
    times = Counter(labels)
    return tuple(
        label if times[label] == 1 else f"{label} ({run})"
        for label, run in zip(labels, runs, strict=True)
    )


def distinctions(
    first: Report, second: Report, *, ignored: Collection[str] = ()
) -> tuple[Distinction, ...]:
    """Everything beside the captions in which two runs differ, so that it can be said.

    The judge decides the numbers: differences between runs with another judge, prompts or
    settings are not differences between checkpoints (protocols, "Common to all three").
    `ignored` names top-level keys of `Report.spec` that are expected to differ: those that
    tell of the checkpoint and its captions.
    """
    found: list[Distinction] = []
    before = {benchmark.name: benchmark for benchmark in first.benchmarks}
    after = {benchmark.name: benchmark for benchmark in second.benchmarks}
    for name in sorted(before.keys() | after.keys()):
        if name in before and name in after:
            found.extend(_benchmark_distinctions(before[name], after[name]))
        else:
            sides = ["evaluated" if name in side else _ABSENT for side in (before, after)]
            found.append(Distinction(name, "benchmark", name, *sides))
    specs = [
        dict(leaves({key: spec[key] for key in spec if key not in ignored}))
        for spec in (first.spec, second.spec)
    ]
    found.extend(_unequal("", "spec", specs[0], specs[1]))
    return tuple(found)


def _benchmark_distinctions(
    first: BenchmarkReport, second: BenchmarkReport
) -> Iterator[Distinction]:
    models = [{role: _who(label) for role, label in one.models.items()} for one in (first, second)]
    yield from _unequal(first.name, "model", *models)
    yield from _unequal(first.name, "setting", first.settings, second.settings)


def _who(label: str) -> str:
    """The model that a label names. Recorded replies of a named model are that model's, whichever
    of them are recorded; where nobody says whose they are, the recordings themselves tell.
    """
    name, mark, _ = label.rpartition(f" ({RECORDED}, ")
    return f"{name} ({RECORDED})" if mark and name != RECORDED else label


def _unequal(
    benchmark: str, kind: str, first: Mapping[str, str], second: Mapping[str, str]
) -> Iterator[Distinction]:
    for name in sorted(first.keys() | second.keys()):
        before, after = first.get(name, _ABSENT), second.get(name, _ABSENT)
        if before != after:
            yield Distinction(benchmark, kind, name, before, after)


def between(first: Report, second: Report) -> tuple[Distinction, ...]:
    """Everything in which two runs differ beside the checkpoint and its captions."""
    return distinctions(first, second, ignored=OF_THE_CHECKPOINT)


def unlike(found: Collection[Distinction]) -> tuple[Distinction, ...]:
    """Those of two runs' distinctions that keep their figures from telling two checkpoints
    apart. A benchmark that only one of them ran does not, nor does what belongs to it.
    """
    alone = {each.name for each in found if each.kind == "benchmark"}
    return tuple(each for each in found if _matters(each, alone))


def refuse_unlike(found: Collection[Distinction]) -> None:
    """Raises NotComparable naming what keeps two runs from being compared, if anything does."""
    those = unlike(found)
    if not those:
        return
    told = "; ".join(f"{_what(each)}: {_values(each)}" for each in those[:_SHOWN])
    more = f"; and {len(those) - _SHOWN} more" if len(those) > _SHOWN else ""
    raise NotComparable(
        f"the runs differ in more than their checkpoints: {told}{more}. The difference "
        "could come from that. Add --anyway to compare them nevertheless",
        tuple((each.kind, _what(each), _values(each)) for each in those[:_SHOWN]),
    )


def said(found: Distinction) -> str:
    """One distinction in words."""
    return f"{_what(found)}: {found.first} / {found.second}"


def _what(found: Distinction) -> str:
    return " ".join(filter(None, (found.benchmark, found.kind, found.name)))


def _values(found: Distinction) -> str:
    return f"{_cut(found.first)} / {_cut(found.second)}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _matters(found: Distinction, alone: Collection[str]) -> bool:
    """Whether it is neither of the checkpoint nor of a benchmark that one run alone has."""
    if found.name in ("coverage_floor", "share_replies"):
        # They move no figure: they say which run is complete, and whose replies it may take.
        return False
    of_checkpoint = found.kind == "model" and found.name in _ROLES_OF_THE_CHECKPOINT
    of_one_run = found.kind == "benchmark" or any(part in alone for part in found.name.split("."))
    return not of_checkpoint and not of_one_run
