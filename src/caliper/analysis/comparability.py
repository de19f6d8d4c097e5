"""Are two runs comparable? Finds what differs besides their checkpoints.

The judge decides the numbers: differences between runs with different judges, prompts or settings
are not differences between checkpoints (protocols, "Common to all three").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from caliper.core.errors import NotComparable
from caliper.core.report import BenchmarkReport, Report, leaves
from caliper.core.run import RECORDED

# The parts of a spec, and the models, that are expected to differ between checkpoints; data are
# compared by digest, not by name.
_CHECKPOINT_FIELDS = ("name", "captions", "replicate", "data_names")
_ROLES_OF_THE_CHECKPOINT = ("captioner", "media")
# What a run lacks that was given its captions: how they were written, and questions from the media.
_OF_A_CAPTIONER = ("caption_tokens", "frames", "images", "taxonomy", "qa_data")
_ABSENT = "(none)"
# A gRPC status can carry a few thousand bytes in all.
_MAX_SHOWN, _MAX_LENGTH = 10, 80


@dataclass(frozen=True, slots=True)
class Distinction:
    """One difference between two runs besides their captions.

    `kind` is benchmark, model, setting or spec; `benchmark` is empty for spec.
    """

    benchmark: str
    kind: str
    name: str
    first: str
    second: str


def unique_names(labels: Sequence[str], runs: Sequence[str]) -> tuple[str, ...]:
    """Unambiguous names of runs: their labels, with the run id added to duplicates."""
    times = Counter(labels)
    return tuple(
        label if times[label] == 1 else f"{label} ({run})"
        for label, run in zip(labels, runs, strict=True)
    )


def setup_differences(first: Report, second: Report) -> tuple[Distinction, ...]:
    """All differences between two runs besides the checkpoint and its captions."""
    results: list[Distinction] = []
    before = {benchmark.name: benchmark for benchmark in first.benchmarks}
    after = {benchmark.name: benchmark for benchmark in second.benchmarks}
    for name in sorted(before.keys() | after.keys()):
        if name in before and name in after:
            results.extend(_benchmark_distinctions(before[name], after[name]))
        else:
            sides = ["evaluated" if name in side else _ABSENT for side in (before, after)]
            results.append(Distinction(name, "benchmark", name, *sides))
    specs = [
        dict(leaves({key: spec[key] for key in spec if key not in _CHECKPOINT_FIELDS}))
        for spec in (first.spec, second.spec)
    ]
    results.extend(_unequal("", "spec", specs[0], specs[1]))
    return tuple(results)


def _benchmark_distinctions(
    first: BenchmarkReport, second: BenchmarkReport
) -> Iterator[Distinction]:
    models = [
        {role: _model_of(label) for role, label in one.models.items()} for one in (first, second)
    ]
    yield from _unequal(first.name, "model", *models)
    yield from _unequal(first.name, "setting", first.settings, second.settings)


def _model_of(label: str) -> str:
    """The model in a label. Recorded replies of a named model count as that model, whatever the
    recording; those of an unknown model are distinguished by their digest.
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


def incomparable(differences: Collection[Distinction]) -> tuple[Distinction, ...]:
    """The distinctions that make two runs incomparable. A benchmark that only one of them has is
    not among them, nor are its settings.
    """
    alone = {each.name for each in differences if each.kind == "benchmark"}
    return tuple(each for each in differences if _matters(each, alone))


def check_comparable(differences: Collection[Distinction]) -> None:
    """Raise NotComparable naming the distinctions that make two runs incomparable, if any."""
    blocking = incomparable(differences)
    if not blocking:
        return
    listing = "; ".join(f"{_subject(each)}: {_values(each)}" for each in blocking[:_MAX_SHOWN])
    more = f"; and {len(blocking) - _MAX_SHOWN} more" if len(blocking) > _MAX_SHOWN else ""
    raise NotComparable(
        f"the runs differ in more than their checkpoints: {listing}{more}. The difference "
        "could come from that. Add --anyway to compare them nevertheless",
        tuple((each.kind, _subject(each), _values(each)) for each in blocking[:_MAX_SHOWN]),
    )


def describe(distinction: Distinction) -> str:
    """A distinction as text."""
    return f"{_subject(distinction)}: {distinction.first} / {distinction.second}"


def _subject(distinction: Distinction) -> str:
    return " ".join(filter(None, (distinction.benchmark, distinction.kind, distinction.name)))


def _values(distinction: Distinction) -> str:
    return f"{_shortened(distinction.first)} / {_shortened(distinction.second)}"


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}..."


def _matters(distinction: Distinction, alone: Collection[str]) -> bool:
    """Whether a distinction is about neither the checkpoint nor a benchmark of only one run."""
    if distinction.name in ("coverage_floor", "share_replies", "judging"):
        # These change no verdict, only which run is whole and whose replies it may reuse.
        return False
    if distinction.name.partition(".")[0] in _OF_A_CAPTIONER:
        return _ABSENT not in (distinction.first, distinction.second)
    of_checkpoint = distinction.kind == "model" and distinction.name in _ROLES_OF_THE_CHECKPOINT
    of_one_run = distinction.kind == "benchmark" or any(
        part in alone for part in distinction.name.split(".")
    )
    return not of_checkpoint and not of_one_run
