"""Runs a build: its model steps in this process, or on an installation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from caliper.adapters.media.bounds import PICTURES
from caliper.adapters.packs.files import shipped_pack
from caliper.building.asking.planning import NAME
from caliper.cli.building.show import BuildView
from caliper.cli.exits import Exit
from caliper.cli.flags import Concurrency, Seed, Server, Set
from caliper.cli.options import OutputOptions, split_settings
from caliper.cli.progress import run_watcher
from caliper.lazy import check_library, lazy_module
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.model_steps import ModelSteps, StepRun
from caliper.local.building.options import media_digests
from caliper.local.building.sequence import BuildResult, Show
from caliper.local.config import RunConfig
from caliper.local.coroutine_runner import run_interruptible
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import ModelRoom
from caliper.wiring.settings import access, decoders

if TYPE_CHECKING:
    from caliper.cli.building import remote
else:
    remote = lazy_module("caliper.cli.building.remote")

SPECS = (
    "SPEC: chat:URL\\[#model], triton:HOST:PORT/MODEL, replay:DIR; with --server, "
    "the installation's captioner."
)
_CONCURRENCY = 64


@dataclass(frozen=True, slots=True)
class EngineFlags(OutputOptions):
    """The options of every build that asks models."""

    seed: Seed = None
    settings: Set = None
    max_calls: Annotated[
        int | None,
        typer.Option(
            "--max-calls", help="Stop before more model calls than this are planned.", min=1
        ),
    ] = None
    concurrency: Concurrency = None
    server: Server = None

    def step_settings(self) -> Mapping[str, str]:
        """The settings of model steps. Raises InvalidInput."""
        return split_settings(self.settings or (), (NAME,))[NAME]


@dataclass(frozen=True, slots=True)
class BuildEngine:
    """The tools of a build. `room` opens embedders."""

    directory: BuildDirectory
    models: ModelSteps
    room: ModelRoom
    show: Show


Work = Callable[[BuildEngine], Awaitable[BuildResult]]


def run_build(
    out: Path, media: Path, flags: EngineFlags, work: Work, specs: Collection[str | None]
) -> int:
    """Build in the directory `out`, show every step, and return 1 if one stopped the build. `specs`
    are those of all models and embedders.
    """
    directory, view = BuildDirectory(out), BuildView(flags)
    with directory.claim():
        result = run_interruptible(_run(directory, media, flags, work, view, specs))
    view.end(result)
    return Exit.NO if result.stopped else Exit.DONE


async def _run(
    directory: BuildDirectory,
    media: Path,
    flags: EngineFlags,
    work: Work,
    view: BuildView,
    specs: Collection[str | None],
) -> BuildResult:
    room = ModelRoom(access(_CONCURRENCY, specs), SystemClock())

    async def run(config: RunConfig) -> StepRun:
        # The step's verdicts are read with it.
        check_library("pyarrow")
        captioner = config.benchmarks[NAME].captioner
        step_config = config.model_copy(update={"concurrency": flags.concurrency or _CONCURRENCY})
        if flags.server is not None and captioner is not None and ":" not in captioner:
            return await remote.run_there(step_config, flags.server, flags)
        return await run_here(step_config, flags, specs)

    models = ModelSteps(
        run=run,
        runs=directory.runs,
        media=media,
        pack=shipped_pack(),
        seed=flags.seed or 0,
        settings=flags.step_settings(),
        calls=flags.max_calls,
    )
    try:
        return await work(BuildEngine(directory, models, room, view.step))
    finally:
        await room.close()


async def digests_of(folder: Path, suffixes: Collection[str] = PICTURES) -> dict[str, str]:
    """The digests of the media in a folder, under the limits of this process."""
    return await asyncio.to_thread(media_digests, folder, decoders().limits, suffixes)


async def run_here(
    config: RunConfig, output: OutputOptions, specs: Collection[str | None]
) -> StepRun:
    """Run a model step in this process. Raises what `prepare` and `evaluate` raise."""
    clock = SystemClock()
    async with prepare(config, access(config.concurrency, specs), clock) as prepared:
        quiet = output.quiet or output.json
        with run_watcher(prepared.spec, clock, quiet=quiet, captioning=False) as watcher:
            result = await evaluate(prepared, watcher, clock, decoders())
        model = prepared.spec.benchmark(NAME).models["media"]
    return StepRun(result.directory / "verdicts.parquet", model.label)
