"""`caliper validate`: checks datasets, captions, runs and configurations before a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer
from rich.markup import escape

from caliper.adapters.datasets.caption_detection import holds_captions
from caliper.adapters.datasets.files import DatasetFiles
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import benchmark, benchmark_names, usable_names
from caliper.benchmarks.settings import resolve_settings
from caliper.cli.console import ERR, OUT, write_json, write_reason
from caliper.cli.data_progress import path_of_data, with_data
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.core.errors import InvalidInput, UnknownName
from caliper.local.config import read_config
from caliper.local.data_layouts import data_place, first_value
from caliper.local.directory import RunDirectory
from caliper.local.part_checks import check_parts, check_specs
from caliper.local.reports import read_report
from caliper.local.sample_captions import find_captions, sample_captions

Checked = Annotated[
    Path, typer.Argument(metavar="PATH", help="A dataset, captions, a run directory or a run.yaml.")
]
As = Annotated[
    str | None,
    typer.Option("--as", metavar="BENCHMARK", help="The benchmark. Default: by the content."),
]


def validate(path: Checked, name: As = None, json: Json = False, quiet: Quiet = False) -> int:
    """Check a dataset, captions, run or config file.

    Exit code 0: usable; 1: usable, but the rows shown would be Unscored, or the run is not
    complete; 2: not usable, with the reason.
    """
    if name is not None and name not in benchmark_names():
        raise UnknownName("benchmark", name, benchmark_names())
    local, pinned = path_of_data(path, quiet=quiet)
    result = _named(local, pinned, name) if pinned else _check(local, name, quiet=quiet)
    if json:
        write_json(asdict(result))
    elif not quiet:
        OUT.print(escape(result.summary), highlight=False)
        for problem in result.problems:
            ERR.print(f"[yellow]{escape(problem)}[/yellow]", soft_wrap=True, highlight=False)
    elif result.problems:
        count = len(result.problems)
        problems = "1 problem" if count == 1 else f"{count:,} problems"
        write_reason(f"{problems}. The first: {result.problems[0]}")
    return Exit.NO if result.problems else Exit.DONE


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of a path. `problems` are rows that would be Unscored, blank captions, or what an
    incomplete run lacks.
    """

    kind: str
    summary: str
    problems: tuple[str, ...] = ()


def _check(path: Path, name: str | None, *, quiet: bool) -> _Content:
    """Identify the content of a path, and list all problems of its rows or its run.

    `name` is the benchmark; None derives it from the content. Raises InvalidInput naming
    file, line and field of an error that makes the whole file unusable.
    """
    if (path / "run.yaml").is_file():
        return _run(RunDirectory(path))
    if path.suffix in (".yaml", ".yml"):
        return _config(path, quiet=quiet)
    if not path.exists():
        raise InvalidInput("no such file or folder", file=str(path))
    name, kind = _recognise(path, name)
    return _captions(path, name) if kind == "captions" else _data(path, name)


def _named(path: Path, pinned: str, name: str | None) -> _Content:
    """Check the data in the local copy of a dataset that was named."""
    for candidate in benchmark_names() if name is None else (name,):
        if place := data_place(candidate, path, copied=True):
            return _data(place, candidate)
    raise InvalidInput("no data in a known layout (docs/data.md)", file=pinned)


def _config(path: Path, *, quiet: bool) -> _Content:
    """Check everything that the configuration names except endpoints."""
    config = read_config(path)
    check_parts(config)
    check_specs(config)
    config = with_data(config, quiet=quiet, media=False)
    problems: list[str] = []
    for name, part in config.benchmarks.items():
        problems += _data(part.data, name, part.set).problems
        if part.captions is not None:
            problems += _captions(part.captions, name).problems
            sample_captions(name, part)
    return _Content("config", f"a run over {', '.join(config.benchmarks)}", tuple(problems))


def _run(directory: RunDirectory) -> _Content:
    """Read the plan and all outcomes; errors in them are raised."""
    report, spec = asyncio.run(read_report(directory)), directory.read_spec()
    parts = ", ".join(part.name for part in spec.benchmarks)
    problems = (f"the run is {report.state}, not complete",) if report.partial else ()
    summary = f"run {spec.run_id} ({spec.name}) over {parts}: {report.state}"
    return _Content("run", summary, problems)


def _recognise(path: Path, name: str | None) -> tuple[str, str]:
    """The benchmark and kind (data or captions) that the content looks like.

    `name` fixes the benchmark. Its content of unknown kind is checked as data, which has more
    layouts than captions.
    """
    names = tuple(usable_names()) if name is None else (name, *usable_names())
    match = _looks_like(path, first_value(path), names)
    kind = match[1] if match else "data"
    if kind == "data" and holds_captions(path):
        match, kind = None, "captions"
    if name is not None:
        return name, kind
    if match is None:
        problem = "captions do not name their benchmark" if kind == "captions" else "unknown layout"
        raise InvalidInput(f"{problem}; add --as {'|'.join(names)}", file=str(path))
    return match


def _looks_like(path: Path, first: Any, names: Iterable[str]) -> tuple[str, str] | None:
    kinds = {name: benchmark(name).recognize(path.suffix, first) for name in names}
    return next(((name, kind) for name, kind in kinds.items() if kind is not None), None)


def _data(path: Path, name: str, settings: Mapping[str, str] = MappingProxyType({})) -> _Content:
    definition = benchmark(name)
    request = PlanRequest(settings=resolve_settings(name, settings))
    items = list(definition.plan(DatasetFiles(path).rows(definition.data), request))
    questions = sum(item.size for item in items)
    problems = dict.fromkeys(
        f"{item.key}: {question.note or question.unscored}"
        for item in items
        for question in item.questions
        if question.unscored is not None
    )
    summary = f"{name} data: {len(items):,} items, {questions:,} questions"
    return _Content("data", summary, tuple(problems))


def _captions(path: Path, name: str) -> _Content:
    captions = find_captions(name, path)
    problems = tuple(
        f"{next(iter(row.names.values()))}: "
        f"{'null, not a caption' if row.text is None else 'blank'}"
        for row in captions.rows
        if not (row.text or "").strip()
    )
    summary = f"{name} captions: {len(captions.rows):,} ({captions.kind})"
    return _Content("captions", summary, problems)
