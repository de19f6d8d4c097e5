"""Builds scene graphs for CompreCap, step by step (paper 3.1, 3.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.files import write_atomically
from caliper.adapters.media.bounds import MediaLimits
from caliper.building.asking.questions import ModelStep, writing_row
from caliper.building.candidates import Candidate, CandidateDecision
from caliper.building.comprecap.descriptions import describe, describe_place, missing_descriptions
from caliper.building.comprecap.graphs import SCENES, compose_question
from caliper.building.comprecap.kind import COMPRECAP
from caliper.building.comprecap.relations import check_relations, list_relations
from caliper.building.comprecap.scenes import (
    CATEGORIES,
    OBJECT,
    RELATIONS_WRITTEN,
    SceneObject,
    SceneRules,
    check_objects,
    list_objects,
    mean_coverage,
)
from caliper.building.steps import Fate, StepResult
from caliper.core.layout import FileFormat, Layout
from caliper.core.preparation import Preparation
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.model_steps import ModelSteps, StepCandidates
from caliper.local.building.outlines import OutlinedPictures
from caliper.local.building.scenes import read_scenes, write_scenes
from caliper.local.building.sequence import BuildResult, Show, Steps, StepSequence
from caliper.version import __version__

OBJECTS, MASKS, DESCRIPTIONS, RELATIONS, QUESTIONS = STEPS = (
    *("1-objects", "2-masks", "3-descriptions", "4-relations", "5-questions"),
)
_TABLE = Layout(FileFormat.TABLE)
_WRONG = 2
_OUTLINED = "outlined"


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """The inputs, models and settings of a build of scene graphs.

    `descriptions` adds to the descriptions in `scenes`. `describer` writes missing descriptions and
    relations, at most `most` relations per picture, and `generator` the wrong descriptions of
    CompreQA-Cap. Models are SPECs; without them, these are left out.
    """

    scenes: Path
    images: Path
    descriptions: Path | None = None
    rules: SceneRules = field(default_factory=SceneRules)
    describer: str | None = None
    generator: str | None = None
    most: int = RELATIONS_WRITTEN
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)


class GraphBuild:
    """One build in a directory, which this process has claimed.

    `digests` are those of the folder's pictures, by path. Raises InvalidInput for broken files.
    """

    def __init__(
        self,
        options: GraphOptions,
        models: ModelSteps,
        digests: Mapping[str, str],
        limits: MediaLimits,
    ) -> None:
        self._options, self._models = options, models
        scenes = read_scenes(options.scenes, options.descriptions, options.images, digests, limits)
        self._pictures, self._absent = scenes.pictures, scenes.absent
        self._digests = {image: digests[image] for image in scenes.pictures}
        self._scenes, self._limits = Path(), limits

    async def run(self, directory: BuildDirectory, show: Show) -> BuildResult:
        """Go through all steps; those with unchanged inputs are not repeated.

        Raises what the runs of model steps raise.
        """
        sequence = StepSequence(directory, self._facts(), show)
        self._scenes = directory.path / SCENES
        write_scenes(self._scenes, self._pictures)
        return await sequence.run(self._steps())

    def _facts(self) -> dict[str, Any]:
        options = self._options
        # Addresses of models do not matter here, and may hold secrets.
        settings = {
            **asdict(options.rules),
            "vocabulary": len(options.rules.vocabulary),
            "most": options.most,
            "seed": options.seed,
            "set": dict(options.settings),
        }
        return {
            "benchmark": COMPRECAP.benchmark,
            "domain": COMPRECAP.benchmark,
            "categories": list(CATEGORIES),
            "settings": settings,
            "pictures": self._digests,
        }

    def _steps(self) -> Steps:
        options, prompt, models = self._options, self._models.prompt, self._models.inputs
        files = [options.scenes, *([options.descriptions] if options.descriptions else [])]
        inputs = [[DatasetFiles(file).digest(_TABLE) for file in files], self._digests, __version__]
        settings = [dict(options.settings), options.seed, __version__]
        described = [models(options.describer), settings, prompt(ModelStep.DESCRIBE)]
        related = [models(options.describer), options.most, settings, prompt(ModelStep.RELATE)]
        misled = [models(options.generator), settings, prompt(ModelStep.MISLEAD)]
        return (
            (OBJECTS, inputs, self._objects),
            (MASKS, asdict(options.rules), self._masks),
            (DESCRIPTIONS, [inputs, described], self._descriptions),
            (RELATIONS, [inputs, related], self._relations),
            (QUESTIONS, [inputs, misled], self._questions),
        )

    async def _objects(self, _: Sequence[Fate]) -> StepResult:
        absent = f"{self._absent:,} annotated pictures are not in the folder"
        remarks = (absent,) if self._absent else ()
        fates = tuple(list_objects(list(self._pictures.values())))
        return StepResult(OBJECTS, fates, remarks=remarks)

    async def _masks(self, before: Sequence[Fate]) -> StepResult:
        fates = tuple(check_objects(before, self._pictures, self._options.rules))
        covered = mean_coverage(fates, self._pictures)
        remark = "" if covered is None else f"masks cover {covered:.2%} of a picture on average"
        return StepResult(MASKS, fates, remarks=(remark,) if remark else ())

    async def _descriptions(self, before: Sequence[Fate]) -> StepResult:
        spec = self._options.describer
        missing = missing_descriptions(_candidates(before), self._pictures)
        if spec is None or not missing:
            skipped = "every description is given" if not missing else "no --describer"
            fates = describe(before, self._pictures)
            return StepResult(DESCRIPTIONS, tuple(fates), skipped=skipped)
        folder = self._models.runs / _OUTLINED
        outlined = await asyncio.to_thread(self._outline, missing, folder)
        if not outlined:
            fates = describe(before, self._pictures)
            return StepResult(DESCRIPTIONS, tuple(fates), skipped="no picture can be decoded")
        rows = [
            writing_row(
                name,
                [each.name],
                1,
                ModelStep.DESCRIBE,
                [describe_place(each, self._pictures[image])],
            )
            for name, (image, each) in outlined.items()
        ]
        written = await self._models.write(ModelStep.DESCRIBE, rows, [spec], folder)
        texts = [replace(each, image=outlined[each.image][0]) for each in written.candidates[0]]
        fates = describe(before, self._pictures, texts, written.models[0])
        if unseen := sum(map(len, missing.values())) - len(outlined):
            remark = f"{unseen} objects are on pictures that cannot be decoded"
            written = replace(written, remarks=(remark, *written.remarks))
        return self._result(DESCRIPTIONS, ModelStep.DESCRIBE, fates, written)

    def _outline(
        self, missing: Mapping[str, Sequence[SceneObject]], folder: Path
    ) -> dict[str, tuple[str, SceneObject]]:
        """Write a picture per object, with the object outlined. Returns the original picture and
        the object by the new picture's path; broken pictures are left out.
        """
        longest = Preparation().longest
        pictures = OutlinedPictures(self._options.images, self._scenes, longest, self._limits)
        outlined = {}
        for image, objects in missing.items():
            for number, each in enumerate(objects, start=1):
                name = f"{image}/{number}.jpg"
                jpeg = pictures.jpeg(f"{image}\n{each.name}")
                if jpeg is not None:
                    write_atomically(folder / name, jpeg)
                    outlined[name] = image, each
        return outlined

    async def _relations(self, before: Sequence[Fate]) -> StepResult:
        spec, objects = self._options.describer, _candidates(before)
        by_picture: dict[str, list[str]] = {}
        for each in objects:
            by_picture.setdefault(each.image, []).append(each.question)
        fates = list(list_relations(self._pictures[image] for image in by_picture))
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
        written = await self._models.write(ModelStep.RELATE, rows, [spec])
        reasons = (f"written by {written.models[0]}",)
        fates += [
            Fate(each, decision=CandidateDecision.REVIEW, reasons=reasons)
            for each in written.candidates[0]
        ]
        checked = check_relations(fates, objects)
        return self._result(RELATIONS, ModelStep.RELATE, [*before, *checked], written)

    def _listed(self, image: str, names: Sequence[str]) -> str:
        picture = self._pictures[image]
        return "\n".join(
            f"- {each.name}: {describe_place(each, picture)}"
            for each in picture.objects
            if each.name in names
        )

    async def _questions(self, before: Sequence[Fate]) -> StepResult:
        spec = self._options.generator
        full = {
            (each.image, each.question): each.answer.splitlines()[-1]
            for each in _candidates(before)
            if each.category == OBJECT
        }
        names: dict[str, list[str]] = {}
        for image, name in full:
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
                [full[image, name] for name in own],
            )
            for image, own in tiny.items()
        ]
        written = await self._models.write(ModelStep.MISLEAD, rows, [spec])
        questions = [
            compose_question(
                each, full[each.image, each.question], self._options.seed, written.models[0]
            )
            for each in written.candidates[0]
        ]
        return self._result(QUESTIONS, ModelStep.MISLEAD, [*before, *questions], written)

    def _result(
        self, name: str, step: ModelStep, fates: Sequence[Fate], written: StepCandidates
    ) -> StepResult:
        prompts = self._models.prompt(step)
        return StepResult(name, tuple(fates), written.models, prompts, written.remarks)


def _candidates(fates: Sequence[Fate]) -> list[Candidate]:
    return [fate.candidate for fate in fates]
