"""Supplied captions by sample: a benchmark's own layout, or what `detect_captions` finds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from caliper.adapters.datasets.caption_detection import (
    OBJECT,
    SUFFIXES,
    CaptionRows,
    detect_captions,
    kind_of,
)
from caliper.adapters.datasets.caption_rows import UNSURE, CaptionRow
from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.datasets.jsonrows import line_rows
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.benchmark import Benchmark
from caliper.benchmarks.registry import benchmark
from caliper.benchmarks.settings import resolve_settings
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat
from caliper.core.question import Source
from caliper.core.rows import Row
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.sample_names import SampleNames

_EXAMPLES = 3
_OWN = "name"
"""What names the sample in a benchmark's own layout. No table has such a field."""


@dataclass(frozen=True, slots=True)
class SampleCaptions:
    """The captions of a benchmark by sample. Keys that name no sample are kept as they are. `note`
    says how they were found; empty for a benchmark's own layout with the samples' own names.
    """

    texts: Mapping[str, str]
    note: str = ""


def sample_captions(name: str, part: BenchmarkConfig) -> SampleCaptions | None:
    """The captions that a configuration names, for the samples of its data; None without captions.

    Raises InvalidInput naming file, line and field, also if no caption is of a sample.
    """
    if part.captions is None:
        return None
    found = _not_empty(find_captions(name, part.captions))
    keys = {key for row in found.rows for key in row.names.values()}
    names = SampleNames(_samples(benchmark(name), part, keys))
    field = _naming_field(found, names)
    texts = _by_sample(found, names, field)
    known = sum(sample in texts for sample in names.samples)
    is_own = field == _OWN
    if is_own and all(row.names[field] in texts for row in found.rows if row.text is not None):
        return SampleCaptions(texts)
    by = "" if is_own else f" by {field}"
    counts = f"{known:,} of {len(names.samples):,} samples{by}"
    return SampleCaptions(texts, f"{name} captions: {found.kind}, {counts}")


def captions_as_named(name: str, path: Path) -> dict[str, str]:
    """The captions at a path where the data are not: by the name that is the surest. Raises
    InvalidInput naming file, line and field.
    """
    found = _not_empty(find_captions(name, path))
    return _by_sample(found, SampleNames({}), next(iter(found.rows[0].names)))


def find_captions(name: str, path: Path) -> CaptionRows:
    """The captions for a benchmark at a path; rows of others are left out. Raises InvalidInput."""
    chosen = benchmark(name)
    if _in_own_layout(chosen, path):
        kind = OBJECT if chosen.captions.format is FileFormat.OBJECT else "JSON Lines"
        return CaptionRows(path, kind, tuple(_own_rows(chosen, path)))
    found = detect_captions(path)
    rows = tuple(row for row in found.rows if row.benchmark in (None, name))
    if not rows:
        others = _listed(row.benchmark or "" for row in found.rows)
        raise InvalidInput(f"no captions of {name}: rows are of {others}", file=str(path))
    return CaptionRows(path, found.kind, rows)


def _own_rows(chosen: Benchmark, path: Path) -> Iterator[CaptionRow]:
    last = Row(str(path), 1, {})

    def noted(rows: Iterable[Row]) -> Iterator[Row]:
        nonlocal last
        for row in rows:
            last = row
            yield row

    for key, text in chosen.read_captions(noted(DatasetFiles(path).rows(chosen.captions))):
        yield CaptionRow(Row(last.file, last.line, {}), {_OWN: key}, text)


def _not_empty(found: CaptionRows) -> CaptionRows:
    if all(row.text is None for row in found.rows):
        raise InvalidInput("no captions", file=str(found.path))
    return found


def _in_own_layout(chosen: Benchmark, path: Path) -> bool:
    """Whether captions are in the benchmark's own layout, or nothing else can be made of them."""
    if not path.exists():
        return True
    if path.is_dir() and not any(file.suffix.lower() in SUFFIXES for file in path.glob("*")):
        return True
    match chosen.captions.format:
        case FileFormat.OBJECT:
            return path.is_file() and path.suffix.lower() == ".json" and kind_of(path) == OBJECT
        case FileFormat.JSONL_FOLDER:
            return _is_by_task(path, chosen.captions.stems)
        case _:
            return True


def _is_by_task(path: Path, tasks: Collection[str]) -> bool:
    """Whether a folder has the file of a task, or a file is one."""
    if path.is_dir():
        return any((path / f"{task}.jsonl").exists() for task in tasks)
    if path.suffix.lower() != ".jsonl" or path.stem not in tasks:
        return False
    first = next(line_rows(path), None)
    return first is None or "sample" not in first.fields


def _samples(
    chosen: Benchmark, part: BenchmarkConfig, keys: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The samples that have questions about captions, each with its media."""
    rows = DatasetFiles(part.data).rows(chosen.data)
    if chosen.samples is not None:
        return dict(chosen.samples(rows))
    settings = resolve_settings(chosen.name, part.set)
    items = chosen.plan(rows, PlanRequest(settings=settings, captions=frozenset(keys)))
    return {item.sample: item.media for item in items if item.source is Source.CAPTION}


def _naming_field(found: CaptionRows, names: SampleNames) -> str:
    """The field that names the most samples; an unsure one only where no other names any.

    Raises InvalidInput if none does, and for a row in which another field names another sample.
    """
    named: dict[str, set[str]] = {}
    for row in found.rows:
        for field, key in row.names.items():
            samples = named.setdefault(field, set())
            if len(matches := names.find(key)) == 1:
                samples.update(matches)
    sure = [name for name in named if named[name] and name.rpartition(".")[2] not in UNSURE]
    best = max(sure or named, key=lambda field: len(named[field]))
    ambiguous = any(len(names.find(row.names.get(best, ""))) > 1 for row in found.rows)
    # Data of questions about media alone have no samples that need captions.
    if names.samples and not named[best] and not ambiguous:
        seen = (
            f"{field} {_listed(row.names[field] for row in found.rows if field in row.names)}"
            for field in islice(named, _EXAMPLES)
        )
        raise InvalidInput(
            f"no caption is of a sample of the data: found {found.kind} with {'; '.join(seen)}; "
            f"samples are named like {_listed(names.samples)}",
            file=str(found.path),
        )
    _refuse_two_samples(found, names, best, sure)
    return best


def _refuse_two_samples(
    found: CaptionRows, names: SampleNames, best: str, others: Iterable[str]
) -> None:
    """Raise InvalidInput for a row in which one of `others` names another sample than `best`."""
    for row in found.rows:
        sample = names.find(row.names.get(best, ""))
        for field in others:
            other = names.find(row.names.get(field, ""))
            if len(sample) == len(other) == 1 and sample != other:
                message = f"it names the sample {other[0]}, but {best} names {sample[0]}; keep one"
                raise row.row.error(field, message)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{name:.60}" for name in islice(dict.fromkeys(names), _EXAMPLES))


def _by_sample(found: CaptionRows, names: SampleNames, field: str) -> dict[str, str]:
    """The caption of each sample: that under its own name, else the only one under another."""
    exact = {key for row in found.rows if (key := row.names.get(field)) in names.samples}
    chosen: dict[str, CaptionRow] = {}
    for row in found.rows:
        key = row.names.get(field)
        if key is None:
            raise row.row.error(field, "missing")
        samples = names.find(key)
        if len(samples) > 1:
            raise row.row.error(field, f"{key} may be any of {', '.join(samples[:_EXAMPLES])}")
        sample = samples[0] if samples and not (key not in exact and samples[0] in exact) else key
        if row.text is None:
            continue
        first = chosen.setdefault(sample, row)
        if first.text != row.text:
            message = f"{key} has another caption in {first.row.file}:{first.row.line}"
            raise row.row.error(field, message)
    return {sample: row.text for sample, row in chosen.items() if row.text is not None}
