"""`caliper build captionqa`: from a taxonomy and pictures to questions for review."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from caliper.building.asking.planning import MOST_QUESTIONS, MOST_VOTES
from caliper.building.captionqa.blind import VOTES
from caliper.building.captionqa.duplicates import COHESION, SIMILARITY, GroupingOptions
from caliper.cli.building.engine import SPECS, BuildEngine, EngineFlags, digests_of, run_build
from caliper.cli.flags import EmbedderSpec
from caliper.local.building.captionqa import Build
from caliper.local.building.options import BuildOptions
from caliper.local.building.sequence import BuildResult


def _flag(*names: str, text: str, metavar: str | None = None, **limits: Any) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, **limits)


@dataclass(frozen=True, slots=True)
class BuildInputs:
    """The options that every build needs."""

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
class BuildFlags(EngineFlags):
    """The options of `caliper build captionqa`."""

    domain: Annotated[str, _flag("--domain", text="The domain, if the taxonomy has several.")] = ""
    questions: Annotated[
        Path | None, _flag("--questions", text="Candidates that exist already: JSON Lines.")
    ] = None
    generator: Annotated[
        list[str] | None,
        _flag("--generator", metavar="SPEC", text=f"Writes questions; repeatable. {SPECS}"),
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
        float, _flag("--similarity", text="The least cosine of near duplicates.", min=0, max=1)
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

    def options(self, inputs: BuildInputs) -> BuildOptions:
        """The inputs of the build. Raises InvalidInput naming the flag."""
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
            settings=self.step_settings(),
        )


def build_captionqa(inputs: BuildInputs, flags: BuildFlags) -> int:
    """Build, show every step, and return 1 if a step stopped the build."""
    options = flags.options(inputs)

    async def work(engine: BuildEngine) -> BuildResult:
        build = Build(
            options,
            engine.directory,
            engine.models,
            lambda: engine.room.embedder(options.embedder),
            engine.show,
        )
        return await build.run(await digests_of(options.images))

    specs = (*options.generators, options.blind, *options.validators, options.embedder)
    return run_build(inputs.out, inputs.images, flags, work, specs)
