"""Builds scene graphs for CompreCap, step by step (paper 3.1, 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.media.bounds import MediaLimits
from caliper.building.asking.planning import MOST_QUESTIONS
from caliper.building.asking.questions import ModelStep, writing_row
from caliper.building.candidates import Candidate, Decision
from caliper.building.comprecap.descriptions import describe, place_of, undescribed
from caliper.building.comprecap.graphs import SCENE_GRAPHS, SCENES, wrong_question
from caliper.building.comprecap.relations import check_relations, given_relations
from caliper.building.comprecap.replies import read_description, read_relations, read_wrong
from caliper.building.comprecap.scenes import (
    CATEGORIES,
    OBJECT,
    SceneRules,
    check_objects,
    given_objects,
    mean_coverage,
)
from caliper.building.steps import Fate, StepResult
from caliper.core.layout import FileFormat, Layout
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.model_steps import ModelSteps, StepReplies
from caliper.local.building.scenes import read_scenes, write_scenes
from caliper.local.building.sequence import BuildResult, Show, Steps, StepSequence
from caliper.version import __version__

OBJECTS, MASKS, DESCRIPTIONS, RELATIONS, QUESTIONS = STEPS = (
    *("1-objects", "2-masks", "3-descriptions", "4-relations", "5-questions"),
)
_TABLE = Layout(FileFormat.TABLE)
_WRONG = 2


@dataclass(frozen=True, slots=True)
class SceneOptions:
    """The inputs, models and settings of a build of scene graphs.

    `descriptions` adds to what `scenes` says of objects. `describer` writes the descriptions and
    relations that are missing, at most `most` relations per picture, and `generator` the wrong
    descriptions of CompreQA-Cap. Models are SPECs; what none writes is left out.
    """

    scenes: Path
    images: Path
    descriptions: Path | None = None
    rules: SceneRules = field(default_factory=SceneRules)
    describer: str | None = None
    generator: str | None = None
    most: int = MOST_QUESTIONS
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)


class SceneBuild:
    """One build in a directory, which this process has claimed.

    `digests` are those of the pictures in the folder by path. Raises InvalidInput for files that
    are broken.
    """

    def __init__(
        self,
        options: SceneOptions,
        models: ModelSteps,
        digests: Mapping[str, str],
        limits: MediaLimits,
    ) -> None:
        self._options, self._models = options, models
        given = read_scenes(options.scenes, options.descriptions, options.images, digests, limits)
        self._pictures, self._absent = given.pictures, given.absent
        self._digests = {image: digests[image] for image in given.pictures}

    async def run(self, directory: BuildDirectory, show: Show) -> BuildResult:
        """Go through all steps; those whose inputs are the same are not done again.

        Raises what the runs of model steps raise.
        """
        sequence = StepSequence(directory, self._facts(), show)
        write_scenes(directory.path / SCENES, self._pictures)
        return await sequence.run(self._steps())

    def _facts(self) -> dict[str, Any]:
        options = self._options
        # Addresses of models say nothing of a build, and may hold secrets.
        settings = {
            **asdict(options.rules),
            "vocabulary": len(options.rules.vocabulary),
            "most": options.most,
            "seed": options.seed,
            "set": dict(options.settings),
        }
        return {
            "benchmark": SCENE_GRAPHS.benchmark,
            "domain": SCENE_GRAPHS.benchmark,
            "categories": list(CATEGORIES),
            "settings": settings,
            "pictures": self._digests,
        }

    def _steps(self) -> Steps:
        options, prompt = self._options, self._models.prompt
        files = [options.scenes, *([options.descriptions] if options.descriptions else [])]
        given = [[DatasetFiles(file).digest(_TABLE) for file in files], self._digests, __version__]
        settings = [dict(options.settings), options.seed, __version__]
        described = [options.describer, settings, prompt(ModelStep.DESCRIBE)]
        related = [options.describer, options.most, settings, prompt(ModelStep.RELATE)]
        asked = [options.generator, settings, prompt(ModelStep.MISLEAD)]
        return (
            (OBJECTS, given, self._objects),
            (MASKS, asdict(options.rules), self._masks),
            (DESCRIPTIONS, [given, described], self._descriptions),
            (RELATIONS, [given, related], self._relations),
            (QUESTIONS, [given, asked], self._questions),
        )

    async def _objects(self, _: Sequence[Fate]) -> StepResult:
        absent = f"{self._absent:,} annotated pictures are not in the folder"
        remarks = (absent,) if self._absent else ()
        fates = tuple(given_objects(list(self._pictures.values())))
        return StepResult(OBJECTS, fates, remarks=remarks)

    async def _masks(self, before: Sequence[Fate]) -> StepResult:
        fates = tuple(check_objects(before, self._pictures, self._options.rules))
        covered = mean_coverage(fates, self._pictures)
        remark = "" if covered is None else f"masks cover {covered:.2%} of a picture on average"
        return StepResult(MASKS, fates, remarks=(remark,) if remark else ())

    async def _descriptions(self, before: Sequence[Fate]) -> StepResult:
        spec, missing = self._options.describer, undescribed(_candidates(before), self._pictures)
        if spec is None or not missing:
            skipped = "every description is given" if not missing else "no --describer"
            fates = describe(before, self._pictures, {}, "")
            return StepResult(DESCRIPTIONS, tuple(fates), skipped=skipped)
        rows = [
            writing_row(
                image,
                [each.name for each in objects],
                1,
                ModelStep.DESCRIBE,
                [place_of(each, self._pictures[image]) for each in objects],
            )
            for image, objects in missing.items()
        ]
        replies = await self._models.ask(ModelStep.DESCRIBE, rows, spec)
        written = {
            (image, name): found.candidates[0].answer
            for image, name, reply in _each(replies, rows)
            if (found := read_description(reply, image, name, 1)) and found.candidates
        }
        fates = describe(before, self._pictures, written, replies.model)
        return self._asked(DESCRIPTIONS, ModelStep.DESCRIBE, fates, replies)

    async def _relations(self, before: Sequence[Fate]) -> StepResult:
        spec, objects = self._options.describer, _candidates(before)
        by_picture: dict[str, list[str]] = {}
        for each in objects:
            by_picture.setdefault(each.image, []).append(each.question)
        fates = list(given_relations(self._pictures[image] for image in by_picture))
        related = {fate.candidate.image for fate in fates}
        missing = {
            image: names
            for image, names in by_picture.items()
            if image not in related and len(names) > 1
        }
        if spec is None or not missing:
            skipped = "every picture has relations" if not missing else "no --describer"
            checked = check_relations(fates, objects)
            return StepResult(RELATIONS, (*before, *checked), skipped=skipped)
        rows = [
            writing_row(
                image,
                ["relations"],
                self._options.most,
                ModelStep.RELATE,
                [self._listed(image, names)],
            )
            for image, names in missing.items()
        ]
        replies = await self._models.ask(ModelStep.RELATE, rows, spec)
        reasons = (f"written by {replies.model}",)
        for image, name, reply in _each(replies, rows):
            found = read_relations(reply, image, name, self._options.most)
            fates += [
                Fate(each, decision=Decision.REVIEW, reasons=reasons)
                for each in (found.candidates if found else ())
            ]
        checked = check_relations(fates, objects)
        return self._asked(RELATIONS, ModelStep.RELATE, [*before, *checked], replies)

    def _listed(self, image: str, names: Sequence[str]) -> str:
        picture = self._pictures[image]
        return "\n".join(
            f"- {each.name}: {place_of(each, picture)}"
            for each in picture.objects
            if each.name in names
        )

    async def _questions(self, before: Sequence[Fate]) -> StepResult:
        spec = self._options.generator
        described = {
            (each.image, each.question): each
            for each in _candidates(before)
            if each.category == OBJECT
        }
        names: dict[str, list[str]] = {}
        for image, name in described:
            names.setdefault(image, []).append(name)
        tiny = {image: self._pictures[image].tiny(own) for image, own in names.items()}
        tiny = {image: own for image, own in tiny.items() if own}
        if spec is None or not tiny:
            skipped = "no object is tiny" if not tiny else "no --generator: they are drawn"
            return StepResult(QUESTIONS, tuple(before), skipped=skipped)
        rows = [
            writing_row(
                image,
                own,
                _WRONG,
                ModelStep.MISLEAD,
                [described[image, name].answer.splitlines()[-1] for name in own],
            )
            for image, own in tiny.items()
        ]
        replies = await self._models.ask(ModelStep.MISLEAD, rows, spec)
        fates = list(before)
        for image, name, reply in _each(replies, rows):
            found = read_wrong(reply, image, name, _WRONG)
            for each in found.candidates if found else ():
                right = described[image, name].answer.splitlines()[-1]
                fates.append(wrong_question(each, right, self._options.seed, replies.model))
        return self._asked(QUESTIONS, ModelStep.MISLEAD, fates, replies)

    def _asked(
        self, name: str, step: ModelStep, fates: Sequence[Fate], replies: StepReplies
    ) -> StepResult:
        prompts, remarks = self._models.prompt(step), tuple(replies.remarks())
        return StepResult(name, tuple(fates), (replies.model,), prompts, remarks)


def _each(
    replies: StepReplies, rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, str]]:
    """The picture, the category and the text of every reply that can be used."""
    for row in rows:
        found = replies.items.get(row["image"], ())
        for name, reply in zip(row["categories"], found, strict=False):
            if not reply.reason:
                yield row["image"], name, reply.reply


def _candidates(fates: Sequence[Fate]) -> list[Candidate]:
    return [fate.candidate for fate in fates]
