"""Runs that are kept: read back for reporting anew and for comparing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path as File

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.report import Report, VerdictRow
from caliper.core.run import RunSpec
from caliper.core.tally import Tally
from caliper.pipeline.aggregate import id_of, report, tallies, verdict_rows
from caliper.pipeline.comparing import Differences, differences
from caliper.pipeline.judge_check import with_checks
from caliper.pipeline.opened import Opening, OpenRun
from caliper.pipeline.outputs import write_outputs
from caliper.pipeline.plan import Captions
from caliper.pipeline.tracked import TrackedRun
from caliper.runtime.sinks import sinks, thumbnails_below
from caliper.standalone.anchored import kept_sittings
from caliper.standalone.config import RunConfig, as_asked
from caliper.standalone.directory import DEFAULT_ROOT, RunDirectory
from caliper.standalone.prepare import digests, open_pack, open_sources
from caliper.standalone.taxonomy import taxonomy_of
from caliper.version import __version__


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept run: its spec, its report as far as it went, and its tallies by benchmark."""

    spec: RunSpec
    report: Report
    tallies: dict[str, Tally]


async def read_run(directory: RunDirectory, *, write: bool = False) -> Kept:
    """Reduce a run's plan and verdicts anew; with `write` its report files too.

    Raises NewerSchema, or InvalidInput when the directory holds no planned run.
    """
    run = await directory.open(directory.read_spec())
    captions = await directory.captions(run)
    found = await kept_report(directory, run, captions)
    if write:
        await write_outputs(
            sinks(captions, thumbnails_below(media_of(directory))),
            replace(found, reuse=directory.reuse),
            lambda: verdict_rows(run.spec, run.plan, run.ledger),
            directory.path,
        )
    return Kept(run.spec, found, await tallies(run.spec, run.plan, run.ledger))


async def kept_report(directory: RunDirectory, run: TrackedRun, captions: Captions) -> Report:
    """The report of a run as far as it went. Raises like `read_run`."""
    found = await report(run.spec, run.summary, run.plan, run.ledger, captions)
    return with_checks(found, kept_sittings(directory))


def media_of(directory: RunDirectory) -> dict[str, File]:
    """The folder of each benchmark's media. Raises NewerSchema or InvalidInput."""
    places = directory.read_run()["config"]["benchmarks"]
    return {name: File(place["media"]) for name, place in places.items()}


async def read_verdicts(directory: RunDirectory) -> list[VerdictRow]:
    """One row a verdict that a run has, in plan order. Raises like `read_run`."""
    run = await directory.open(directory.read_spec())
    shards = verdict_rows(run.spec, run.plan, run.ledger)
    return [row async for shard in shards for row in shard]


async def possible_scores(directory: RunDirectory) -> dict[str, tuple[float, ...]]:
    """The scores that each question of a run can have, by question id. Raises like `read_run`."""
    run = await directory.open(directory.read_spec())
    found = {}
    async for items in run.plan():
        for item in items:
            for question in item.questions:
                scores = benchmark(item.benchmark).scores(question)
                key = id_of(run.spec.benchmark(item.benchmark), item, question)
                found[key] = tuple(map(float, scores))
    return found


def opening(directory: RunDirectory) -> Opening:
    """The run of a directory, to be compared. Raises like `read_run` when it is opened."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[OpenRun]:
        run = await directory.open(spec)

        async def captions() -> Captions:
            return await directory.captions(run)

        yield OpenRun(spec, run.summary, run.plan, run.ledger, captions)

    spec = directory.read_spec()
    return Opening(spec, opened)


def compare_runs(first: Kept, second: Kept) -> Differences:
    """The differences of every figure by benchmark, for the benchmarks that both ran."""
    return differences(first.tallies, second.tallies, (first.spec, second.spec))


def find_kept(config: RunConfig) -> RunDirectory | None:
    """The run of an equal configuration over the same data and captions that has a report.

    For a command whose endpoint is down: without it the models cannot be resolved, and so
    the fingerprint is not known.
    """
    asked = as_asked(config)
    places = [config.out] if config.out else sorted(DEFAULT_ROOT.glob("*"))
    for path in places:
        directory = RunDirectory(path)
        told = (path / "report.json").is_file()
        if told and _asked_for(directory) == asked and _same_files(config, directory):
            return directory
    return None


def _asked_for(directory: RunDirectory) -> object:
    """The configuration in run.yaml; None where that cannot be read."""
    try:
        return directory.read_run().get("config")
    except InvalidInput:
        return None


def _same_files(config: RunConfig, directory: RunDirectory) -> bool:
    spec = directory.read_spec()
    if (spec.version, spec.pack) != (__version__, open_pack(config).digest):
        return False
    for name, part in config.benchmarks.items():
        held = spec.benchmark(name)
        found = digests(name, open_sources(name, part))
        if any(getattr(held, kind) != value for kind, value in found.items()):
            return False
        if held.taxonomy != taxonomy_of(name, part):
            return False
    return True
