"""`caliper build capability`: from media to annotations for review."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caliper.adapters.media.bounds import CLIPS, PICTURES
from caliper.benchmarks.capability.tasks import NAMES
from caliper.building.asking.planning import MOST_ELEMENTS
from caliper.cli.building.engine import SPECS, BuildEngine, EngineFlags, digests_of, run_build
from caliper.core.errors import UnknownName
from caliper.local.building.capability import AnnotationBuild, AnnotationOptions
from caliper.local.building.sequence import BuildResult


@dataclass(frozen=True, slots=True)
class AnnotationInputs:
    """The options that every build of CAPability needs."""

    media: Annotated[Path, typer.Option("--media", help="The folder of pictures and clips.")]
    out: Annotated[Path, typer.Option("--out", help="The directory of the build.")]


@dataclass(frozen=True, slots=True)
class AnnotationFlags(EngineFlags):
    """The options of `caliper build capability`."""

    annotations: Annotated[
        list[Path] | None,
        typer.Option(
            "--annotations",
            metavar="PATH",
            help="Existing annotations, in the official form; repeatable, distinguished by the "
            "field annotator.",
        ),
    ] = None
    annotator: Annotated[
        list[str] | None,
        typer.Option(
            "--annotator", metavar="SPEC", help=f"Lists elements of media; repeatable. {SPECS}"
        ),
    ] = None
    merger: Annotated[
        str | None,
        typer.Option(
            "--merger",
            metavar="SPEC",
            help="Merges elements that annotators name differently. By default, only equal names "
            "are merged.",
        ),
    ] = None
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task", metavar="TASK", help="Only this dimension; repeatable. Default: all."
        ),
    ] = None
    listed: Annotated[
        Path | None,
        typer.Option(
            "--list", metavar="FILE", help="The media to use, with dimensions and tags: JSON Lines."
        ),
    ] = None
    most: Annotated[
        int,
        typer.Option(
            "--most",
            help="Elements that a model lists per medium and dimension.",
            min=1,
            max=MOST_ELEMENTS,
        ),
    ] = 20
    media_per_task: Annotated[
        int | None,
        typer.Option(
            "--media-per-task",
            help="Annotate at most this many media per dimension, spread over their tags.",
            min=1,
        ),
    ] = None
    per_task: Annotated[
        int | None,
        typer.Option(
            "--per-task",
            help="Keep at most this many annotations per dimension, spread over their values.",
            min=1,
        ),
    ] = None

    def options(self, media: Path) -> AnnotationOptions:
        """The inputs of the build. Raises UnknownName for an unknown dimension."""
        tasks = self.task or NAMES
        for name in tasks:
            if name not in NAMES:
                raise UnknownName("task", name, NAMES)
        return AnnotationOptions(
            media=media,
            tasks=tuple(name for name in NAMES if name in tasks),
            listed=self.listed,
            annotations=tuple(self.annotations or ()),
            annotators=tuple(self.annotator or ()),
            merger=self.merger,
            most=self.most,
            media_per_task=self.media_per_task,
            per_task=self.per_task,
            seed=self.seed or 0,
            settings=self.step_settings(),
        )


def build_capability(inputs: AnnotationInputs, flags: AnnotationFlags) -> int:
    """Build, show every step, and return 1 if a step stopped the build."""
    options = flags.options(inputs.media)

    async def work(engine: BuildEngine) -> BuildResult:
        media = await digests_of(options.media, PICTURES | CLIPS.keys())
        build = AnnotationBuild(options, engine.models, media)
        return await build.run(engine.directory, engine.show)

    specs = (*options.annotators, options.merger)
    return run_build(inputs.out, inputs.media, flags, work, specs)
