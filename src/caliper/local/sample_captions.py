"""Supplied captions by sample, in a benchmark's own layout or in one that is detected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
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
"""The naming field in a benchmark's own layout. No table has such a field."""


@dataclass(frozen=True, slots=True)
class SampleCaptions:
    """A benchmark's captions by sample. Keys that match no sample stay as they are. `note` says how
    captions were found; empty for a benchmark's own layout with the samples' own names.
    """

    texts: Mapping[str, str]
    note: str = ""


def sample_captions(name: str, part: BenchmarkConfig) -> SampleCaptions | None:
    """The captions that a configuration names, for the samples of its data; None without captions.

    Raises InvalidInput naming file, line and field, also if no caption matches a sample.
    """
    if part.captions is None:
        return None
    captions = _not_empty(find_captions(name, part.captions))
    keys = {key for row in captions.rows for key in row.names.values()}
    names = SampleNames(_samples(benchmark(name), part, keys))
    field = _naming_field(captions, names)
    texts = _by_sample(captions, names, field)
    captioned = sum(sample in texts for sample in names.samples)
    is_own = field == _OWN
    if is_own and all(row.names[field] in texts for row in captions.rows if row.text is not None):
        return SampleCaptions(texts)
    by = "" if is_own else f" by {field}"
    counts = f"{captioned:,} of {len(names.samples):,} samples{by}"
    return SampleCaptions(texts, f"{name} captions: {captions.kind}, {counts}")


def captions_as_named(name: str, path: Path) -> dict[str, str]:
    """The captions at a path, without the data: keyed by the most reliable name. Raises
    InvalidInput naming file, line and field.
    """
    captions = _not_empty(find_captions(name, path))
    return _by_sample(captions, SampleNames({}), next(iter(captions.rows[0].names)))


def find_captions(name: str, path: Path) -> CaptionRows:
    """The captions for a benchmark at a path, without rows of others. Raises InvalidInput."""
    own = benchmark(name)
    if _in_own_layout(own, path):
        kind = OBJECT if own.captions.format is FileFormat.OBJECT else "JSON Lines"
        return CaptionRows(path, kind, tuple(_own_rows(own, path)))
    detected = detect_captions(path)
    rows = tuple(row for row in detected.rows if row.benchmark in (None, name))
    if not rows:
        others = _listed(row.benchmark or "" for row in detected.rows)
        raise InvalidInput(f"no captions of {name}: rows are of {others}", file=str(path))
    return CaptionRows(path, detected.kind, rows)


def _own_rows(own: Benchmark, path: Path) -> Iterator[CaptionRow]:
    last = Row(str(path), 1, {})

    def noted(rows: Iterable[Row]) -> Iterator[Row]:
        nonlocal last
        for row in rows:
            last = row
            yield row

    for key, text in own.read_captions(noted(DatasetFiles(path).rows(own.captions))):
        yield CaptionRow(replace(last, fields={}), {_OWN: key}, text)


def _not_empty(captions: CaptionRows) -> CaptionRows:
    if all(row.text is None for row in captions.rows):
        raise InvalidInput("no captions", file=str(captions.path))
    return captions


def _in_own_layout(own: Benchmark, path: Path) -> bool:
    """Whether captions are in the benchmark's own layout, or cannot be read in any other."""
    if not path.exists():
        return True
    if path.is_dir() and not any(file.suffix.lower() in SUFFIXES for file in path.glob("*")):
        return True
    match own.captions.format:
        case FileFormat.OBJECT:
            return path.is_file() and path.suffix.lower() == ".json" and kind_of(path) == OBJECT
        case FileFormat.JSONL_FOLDER:
            return _is_by_task(path, own.captions.stems)
        case _:
            return True


def _is_by_task(path: Path, tasks: Collection[str]) -> bool:
    """Whether a folder has the file of a task, or a file is one."""
    if path.is_dir():
        return any((path / f"{task}.jsonl").exists() for task in tasks)
    if path.suffix.lower() != ".jsonl" or path.stem not in tasks or not path.is_file():
        return False
    first = next(line_rows(path), None)
    return first is None or "sample" not in first.fields


def _samples(
    own: Benchmark, part: BenchmarkConfig, keys: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The samples that have questions about captions, each with its media."""
    rows = DatasetFiles(part.data).rows(own.data)
    if own.samples is not None:
        return dict(own.samples(rows))
    settings = resolve_settings(own.name, part.set)
    items = own.plan(rows, PlanRequest(settings=settings, captions=frozenset(keys)))
    return {item.sample: item.media for item in items if item.source is Source.CAPTION}


def _naming_field(captions: CaptionRows, names: SampleNames) -> str:
    """The field that names the most samples; an uncertain one only if no other names any.

    Raises InvalidInput if there is none, and for a row in which another field names another sample.
    """
    named: dict[str, set[str]] = {}
    for row in captions.rows:
        for field, key in row.names.items():
            samples = named.setdefault(field, set())
            if len(matches := names.find(key)) == 1:
                samples.update(matches)
    sure = [name for name in named if named[name] and name.rpartition(".")[2] not in UNSURE]
    best = max(sure or named, key=lambda field: len(named[field]))
    ambiguous = any(len(names.find(row.names.get(best, ""))) > 1 for row in captions.rows)
    # With questions about media alone, no sample needs a caption.
    if names.samples and not named[best] and not ambiguous:
        examples = (
            f"{field} {_listed(row.names[field] for row in captions.rows if field in row.names)}"
            for field in islice(named, _EXAMPLES)
        )
        raise InvalidInput(
            f"no caption matches a sample: found {captions.kind} with {'; '.join(examples)}; "
            f"samples are named like {_listed(names.samples)}",
            file=str(captions.path),
        )
    _refuse_two_samples(captions, names, best, sure)
    return best


def _refuse_two_samples(
    captions: CaptionRows, names: SampleNames, best: str, others: Iterable[str]
) -> None:
    """Raise InvalidInput for a row in which one of `others` names another sample than `best`."""
    for row in captions.rows:
        sample = names.find(row.names.get(best, ""))
        for field in others:
            other = names.find(row.names.get(field, ""))
            if len(sample) == len(other) == 1 and sample != other:
                message = f"it names the sample {other[0]}, but {best} names {sample[0]}; keep one"
                raise row.row.error(field, message)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{name:.60}" for name in islice(dict.fromkeys(names), _EXAMPLES))


def _by_sample(captions: CaptionRows, names: SampleNames, field: str) -> dict[str, str]:
    """Each sample's caption: the one under its own name, else the only one under another."""
    exact = {key for row in captions.rows if (key := row.names.get(field)) in names.samples}
    by_sample: dict[str, CaptionRow] = {}
    for row in captions.rows:
        key = row.names.get(field)
        if key is None:
            raise row.row.error(field, "missing")
        samples = names.find(key)
        if len(samples) > 1:
            raise row.row.error(field, f"{key} may be any of {', '.join(samples[:_EXAMPLES])}")
        sample = samples[0] if samples and not (key not in exact and samples[0] in exact) else key
        if row.text is None:
            continue
        first = by_sample.setdefault(sample, row)
        if first.text != row.text:
            message = f"{key} has another caption in {first.row.file}, {first.row.place}"
            raise row.row.error(field, message)
    return {sample: row.text for sample, row in by_sample.items() if row.text is not None}
