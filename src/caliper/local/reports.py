"""Reads stored runs back, to report again and to compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path as File

from caliper.adapters.packs.files import open_pack
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.report import Report, VerdictRow
from caliper.core.run import RunSpec, RunState
from caliper.local.config import RunConfig, config_values
from caliper.local.directory import DEFAULT_ROOT, RunDirectory
from caliper.local.setup import digests, open_sources
from caliper.local.taxonomy import taxonomy_of
from caliper.pipeline.comparing.shared_questions import TalliedRun
from caliper.pipeline.ledger.report import id_of, report, verdict_rows
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.tallies import LiveTallies
from caliper.pipeline.reports.judge_check import AnchorJudgements, read_judgements, with_checks
from caliper.pipeline.reports.report_files import ReportFiles, file_digest
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.runs import END, read_replaceable, run_store, write_json
from caliper.ports.storage import ReportSink
from caliper.version import __version__
from caliper.wiring.sinks import folder_thumbnails, sinks


async def read_report(directory: RunDirectory) -> Report:
    """The report of a run, complete or not, from its plan and verdicts.

    Raises NewerSchema, InvalidInput if the directory is not a readable run, and NotReady for a run
    whose plan is incomplete.
    """
    run = await directory.stored_run.open()
    return await stored_report(directory, run, await directory.captions(run))


async def stored_report(directory: RunDirectory, run: RunLedger, captions: Captions) -> Report:
    """The report of an open run. Raises InvalidInput when its plan is lost."""
    bare = await report(run.spec, run.summary, run.plan, run.ledger, captions)
    return with_checks(bare, await stored_judgements(directory, run.spec))


async def stored_judgements(directory: RunDirectory, spec: RunSpec) -> AnchorJudgements:
    """The judgements of a run's anchors; may be empty. Raises as `read_judgements`."""
    return await read_judgements(run_store(directory.store(spec), spec.run_id), spec)


async def write_report(directory: RunDirectory) -> Report:
    """`read_report`, and write its files again. Raises also StoreFull or StoreUnavailable."""
    run, reports = await directory.stored_run.open(), list[Report]()

    def complete(bare: Report) -> Report:
        reports.append(replace(bare, reuse=directory.reuse))
        return reports[0]

    def files_of(_: RunSpec, captions: Captions) -> Sequence[ReportSink]:
        return sinks(captions, folder_thumbnails(media_of(directory)))

    files = ReportFiles(directory.captions, files_of, directory.path, complete)
    await files.write(run, RunState.FINISHED, LiveTallies(), nullcontext())
    if end := await read_replaceable(run.store, END):
        await write_json(run.store, END, **end | {"files": dict(run.files)})
    return reports[0]


async def current_report(directory: RunDirectory, run: RunLedger, captions: Captions) -> Report:
    """The report of an ended run. Its files are written again if one is not as it was written.

    Raises InvalidInput when the plan is lost, StoreFull or StoreUnavailable.
    """
    files, current = run.files.items(), False
    with suppress(OSError):
        current = all(file_digest(directory.path / name) == each for name, each in files)
    if current:
        return await stored_report(directory, run, captions)
    directory.write_captions(captions)
    return await write_report(directory)


async def read_figures(directory: RunDirectory) -> tuple[Report, TalliedRun]:
    """`read_report`, and the run with the tally of each benchmark."""
    run = await directory.stored_run.open()
    whole = await stored_report(directory, run, await directory.captions(run))
    return whole, await TalliedRun.of(run)


def media_of(directory: RunDirectory) -> dict[str, File]:
    """The folder of each benchmark's media. Raises NewerSchema or InvalidInput."""
    run = directory.read_run()
    fetched: dict[str, str] = run.get("media", {})
    places = run["config"]["benchmarks"]
    return {name: File(fetched.get(name) or place["media"]) for name, place in places.items()}


async def read_verdicts(directory: RunDirectory) -> list[VerdictRow]:
    """One row per verdict of a run, in plan order. Raises like `read_report`."""
    run = await directory.stored_run.open()
    shards = verdict_rows(run.spec, run.plan, run.ledger)
    return [row async for shard in shards for row in shard]


async def possible_scores(directory: RunDirectory) -> dict[str, tuple[float, ...]]:
    """The possible scores of each question of a run, by its id. Raises like `read_report`."""
    run = await directory.stored_run.open()
    by_question = {}
    async for items in run.plan():
        for item in items:
            for question in item.questions:
                scores = benchmark(item.benchmark).scores(question)
                key = id_of(run.spec.benchmark(item.benchmark), item, question)
                by_question[key] = tuple(map(float, scores))
    return by_question


def finished_runs(warn: Callable[[str], None]) -> list[tuple[RunDirectory, RunSpec]]:
    """The runs below `runs/` that have a report, by name. `warn` is called for each that cannot be
    read. A report without a run.yaml was fetched from an installation.
    """
    runs = []
    for file in sorted(DEFAULT_ROOT.glob("*/run.yaml")):
        directory = RunDirectory(file.parent)
        if (directory.path / "report.json").exists():
            try:
                runs.append((directory, directory.read_spec()))
            except InvalidInput as error:
                warn(f"left out: {error}")
    return runs


def find_equal_run(config: RunConfig) -> RunDirectory | None:
    """A run with a report, of an equal configuration over the same data and captions.

    For commands whose endpoint is down: then the models cannot be resolved, and the fingerprint is
    unknown.
    """
    wanted_config = config_values(config)
    paths = [config.out] if config.out else sorted(DEFAULT_ROOT.glob("*"))
    for path in paths:
        directory = RunDirectory(path)
        reported = (path / "report.json").is_file()
        if reported and _config_of(directory) == wanted_config and _same_files(config, directory):
            return directory
    return None


def _config_of(directory: RunDirectory) -> object:
    """The configuration in run.yaml; None if it is unreadable."""
    try:
        return directory.read_run().get("config")
    except InvalidInput:
        return None


def _same_files(config: RunConfig, directory: RunDirectory) -> bool:
    spec = directory.read_spec()
    if (spec.version, spec.pack) != (__version__, open_pack(config.pack).digest):
        return False
    for name, part in config.benchmarks.items():
        stored = spec.benchmark(name)
        current = digests(name, open_sources(name, part))
        if any(getattr(stored, kind) != value for kind, value in current.items()):
            return False
        if stored.taxonomy != taxonomy_of(name, part):
            return False
    return True
