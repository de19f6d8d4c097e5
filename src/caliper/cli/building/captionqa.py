"""`caliper build captionqa`: from a taxonomy and pictures to questions for review."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import uvloop

from caliper.adapters.packs.files import shipped_pack
from caliper.building.asking.planning import MOST_QUESTIONS, MOST_VOTES, NAME
from caliper.building.blind import VOTES
from caliper.building.duplicates import COHESION, SIMILARITY, GroupingOptions
from caliper.cli.building.show import BuildView
from caliper.cli.exits import Exit
from caliper.cli.flags import Concurrency, EmbedderSpec, Seed, Server, Set
from caliper.cli.options import OutputOptions, split_settings
from caliper.cli.progress import run_watcher
from caliper.lazy import lazy_module
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.model_steps import ModelSteps, StepRun
from caliper.local.building.options import BuildOptions, picture_digests
from caliper.local.building.pipeline import Build, BuildResult
from caliper.local.config import RunConfig
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import ModelRoom
from caliper.wiring.settings import access, decoders

if TYPE_CHECKING:
    from caliper.cli.building import remote
else:
    remote = lazy_module("caliper.cli.building.remote")

_SPECS = (
    "SPEC is tgi:URL\\[#model], triton:HOST:PORT/MODEL, replay:DIR, or with --server the name of "
    "the installation's captioner."
)
_CONCURRENCY = 64


def _flag(*names: str, text: str, metavar: str | None = None, **limits: Any) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, **limits)


@dataclass(frozen=True, slots=True)
class BuildInputs:
    """What every build needs."""

    taxonomy: Annotated[
        list[Path],
        _flag(
            "--taxonomy",
            metavar="FILE",
            text="A YAML or JSON file of the domain's nodes; several are merged.",
        ),
    ]
    images: Annotated[Path, _flag("--images", text="The folder of pictures.")]
    out: Annotated[Path, _flag("--out", text="The directory of the build.")]


@dataclass(frozen=True, slots=True)
class BuildFlags(OutputOptions):
    """The options of `caliper build captionqa`."""

    domain: Annotated[str, _flag("--domain", text="The domain, if the taxonomy has several.")] = ""
    questions: Annotated[
        Path | None, _flag("--questions", text="Candidates that exist already: JSON Lines.")
    ] = None
    generator: Annotated[
        list[str] | None,
        _flag("--generator", metavar="SPEC", text=f"Writes questions; repeatable. {_SPECS}"),
    ] = None
    blind: Annotated[
        str | None,
        _flag("--blind", metavar="SPEC", text="Should not be able to answer without the picture."),
    ] = None
    validator: Annotated[
        list[str] | None,
        _flag("--validator", metavar="SPEC", text="Answers with the picture; give two."),
    ] = None
    embedder: EmbedderSpec = "ngram"
    most: Annotated[
        int,
        _flag(
            "--most",
            text="Questions per picture, category and generator.",
            min=1,
            max=MOST_QUESTIONS,
        ),
    ] = 3
    votes: Annotated[
        int, _flag("--votes", text="Answers per blind question.", min=1, max=MOST_VOTES)
    ] = VOTES
    similarity: Annotated[
        float, _flag("--similarity", text="Near duplicates from this cosine on.", min=0, max=1)
    ] = SIMILARITY
    cohesion: Annotated[
        float, _flag("--cohesion", text="The least cosine in a group.", min=0, max=1)
    ] = COHESION
    reject: Annotated[
        bool,
        _flag("--reject", text="Drop questions to which both validators raise the same flag."),
    ] = False
    per_category: Annotated[
        int | None,
        _flag("--per-category", text="Keep at most this many questions per category.", min=1),
    ] = None
    seed: Seed = None
    settings: Set = None
    max_calls: Annotated[
        int | None,
        _flag("--max-calls", text="Stop before more model calls than this are planned.", min=1),
    ] = None
    concurrency: Concurrency = None
    server: Server = None

    def options(self, inputs: BuildInputs) -> BuildOptions:
        """What the build is made from. Raises InvalidInput naming the flag."""
        return BuildOptions(
            taxonomies=tuple(inputs.taxonomy),
            images=inputs.images,
            domain=self.domain,
            questions=self.questions,
            generators=tuple(self.generator or ()),
            blind=self.blind,
            validators=tuple(self.validator or ()),
            embedder=self.embedder,
            most=self.most,
            votes=self.votes,
            grouping=GroupingOptions(self.similarity, self.cohesion),
            reject=self.reject,
            per_category=self.per_category,
            seed=self.seed or 0,
            settings=split_settings(self.settings or (), (NAME,))[NAME],
        )


def build_captionqa(inputs: BuildInputs, flags: BuildFlags) -> int:
    """Build, show every step, and return 1 if a step stopped the build."""
    options, view = flags.options(inputs), BuildView(flags)
    directory = BuildDirectory(inputs.out)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, directory.claim():
        result = runner.run(_build(options, directory, flags, view))
    view.end(result)
    return Exit.NO if result.stopped else Exit.DONE


async def _build(
    options: BuildOptions, directory: BuildDirectory, flags: BuildFlags, view: BuildView
) -> BuildResult:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - a coroutine that runs has a task
    # SIGTERM interrupts like Ctrl-C, keeping the work done.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    room = ModelRoom(access(_CONCURRENCY), SystemClock())

    async def run(config: RunConfig) -> StepRun:
        captioner = config.benchmarks[NAME].captioner
        chosen = config.model_copy(update={"concurrency": flags.concurrency or _CONCURRENCY})
        if flags.server is not None and captioner is not None and ":" not in captioner:
            return await remote.run_there(chosen, flags.server, flags)
        return await run_here(chosen, flags)

    models = ModelSteps(
        run=run,
        runs=directory.runs,
        images=options.images,
        pack=shipped_pack(),
        seed=options.seed,
        settings=options.settings,
        calls=flags.max_calls,
    )
    try:
        build = Build(
            options, directory, models, lambda: room.embedder(options.embedder), view.step
        )
        pictures = await asyncio.to_thread(picture_digests, options.images, decoders().limits)
        return await build.run(pictures)
    finally:
        await room.close()


async def run_here(config: RunConfig, shown: OutputOptions) -> StepRun:
    """Run a model step in this process. Raises what `prepare` and `evaluate` raise."""
    clock = SystemClock()
    async with prepare(config, access(config.concurrency), clock) as prepared:
        quiet = shown.quiet or shown.json
        with run_watcher(prepared.spec, clock, quiet=quiet, captioning=False) as watcher:
            result = await evaluate(prepared, watcher, clock, decoders())
        model = prepared.spec.benchmark(NAME).models["media"]
    return StepRun(result.directory / "verdicts.parquet", model.label)
