"""`caliper build comprecap`: from masks and descriptions to scene graphs for review."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caliper.building.asking.planning import MOST_ELEMENTS
from caliper.building.comprecap.scenes import COVERAGE, RELATIONS_WRITTEN, SceneRules
from caliper.cli.building.engine import SPECS, BuildEngine, EngineFlags, digests_of, run_build
from caliper.core.errors import InvalidInput
from caliper.local.building.comprecap import GraphBuild, GraphOptions
from caliper.local.building.sequence import BuildResult
from caliper.wiring.settings import decoders

HELP = """Build scene graphs for CompreCap, from masks, descriptions and relations of objects.

Existing descriptions and relations are used as they are; those that a model writes are for review.
The same command resumes the build, and repeats only steps whose inputs changed.

Exit code 1: a step lacks replies that may come later.
"""
Scenes = Annotated[
    Path,
    typer.Option(
        "--scenes",
        help="Objects with categories and masks: COCO's instances, or rows as in anno.json.",
    ),
]
Images = Annotated[Path, typer.Option("--images", help="The folder of pictures.")]
Out = Annotated[Path, typer.Option("--out", help="The directory of the build.")]
Descriptions = Annotated[
    Path | None,
    typer.Option("--descriptions", help="Descriptions and relations of objects: JSON Lines."),
]
Vocabulary = Annotated[
    Path | None, typer.Option("--vocabulary", help="The known categories, one per line.")
]
Coverage = Annotated[
    float,
    typer.Option("--coverage", help="Drop pictures if masks cover a smaller share.", min=0, max=1),
]
LeastArea = Annotated[
    float,
    typer.Option(
        "--least-area", help="Drop objects with a smaller share of the picture.", min=0, max=1
    ),
]
Describer = Annotated[
    str | None,
    typer.Option(
        "--describer",
        metavar="SPEC",
        help=f"Writes missing descriptions and relations. {SPECS}",
    ),
]
Generator = Annotated[
    str | None,
    typer.Option("--generator", metavar="SPEC", help="Writes wrong descriptions for CompreQA-Cap."),
]
Most = Annotated[
    int,
    typer.Option(
        "--most", help="Relations per picture that a model writes.", min=1, max=MOST_ELEMENTS
    ),
]


@dataclass(frozen=True, slots=True)
class GraphInputs:
    """The options that every build of scene graphs needs."""

    scenes: Scenes
    images: Images
    out: Out


@dataclass(frozen=True, slots=True)
class GraphFlags(EngineFlags):
    """The options of `caliper build comprecap`."""

    descriptions: Descriptions = None
    vocabulary: Vocabulary = None
    coverage: Coverage = COVERAGE
    least_area: LeastArea = 0.0
    describer: Describer = None
    generator: Generator = None
    most: Most = RELATIONS_WRITTEN

    def options(self, inputs: GraphInputs) -> GraphOptions:
        """The inputs of the build. Raises InvalidInput naming the flag or file."""
        return GraphOptions(
            scenes=inputs.scenes,
            images=inputs.images,
            descriptions=self.descriptions,
            rules=SceneRules(_words(self.vocabulary), self.least_area, self.coverage),
            describer=self.describer,
            generator=self.generator,
            most=self.most,
            seed=self.seed or 0,
            settings=self.step_settings(),
        )


def _words(path: Path | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot be read: {error}", file=str(path)) from error
    words = tuple(" ".join(line.split()) for line in lines if line.strip())
    if not words:
        raise InvalidInput("expected categories, one per line", file=str(path))
    return words


def build_comprecap(inputs: GraphInputs, flags: GraphFlags) -> int:
    """Build, show every step, and return 1 if a step stopped the build."""
    options = flags.options(inputs)

    async def work(engine: BuildEngine) -> BuildResult:
        digests = await digests_of(options.images)
        limits = decoders().limits
        build = await asyncio.to_thread(GraphBuild, options, engine.models, digests, limits)
        return await build.run(engine.directory, engine.show)

    specs = (options.describer, options.generator)
    return run_build(inputs.out, inputs.images, flags, work, specs)
