"""Builds annotations of CAPability, step by step (paper 3.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.media.bounds import CLIPS
from caliper.benchmarks.capability.tasks import NAMES, TASKS
from caliper.building.asking.planning import MOST_ELEMENTS
from caliper.building.asking.questions import ModelStep, writing_row
from caliper.building.balance import balance
from caliper.building.candidates import Candidate
from caliper.building.capability.annotations import (
    check_annotations,
    credit_annotator,
    read_annotations,
)
from caliper.building.capability.kind import CAPABILITY
from caliper.building.capability.media import (
    ListedMedium,
    draw_media,
    group_by_medium,
    keep_drawn_media,
    media_of_dimensions,
    read_media,
)
from caliper.building.capability.merge import (
    draw_elements,
    lists_to_merge,
    merge_annotations,
    same_elements,
)
from caliper.building.capability.replies import instruction, list_text
from caliper.building.steps import Fate, StepResult
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat, Layout
from caliper.core.rows import Row
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.model_steps import ModelSteps
from caliper.local.building.sequence import BuildResult, Show, Steps, StepSequence
from caliper.version import __version__

MEDIA, ANNOTATIONS, FORMATS, MERGE, DRAW, BALANCE = STEPS = (
    *("1-media", "2-annotations", "3-formats", "4-merge", "5-draw", "6-balance"),
)
_TABLE = Layout(FileFormat.TABLE)


@dataclass(frozen=True, slots=True)
class AnnotationOptions:
    """The inputs, models and settings of a build of CAPability.

    `annotations` are supplied ones, `annotators` SPECs of models, `merger` the SPEC of the model
    that merges lists, `listed` a list of media with dimensions and tags. `most` is the number of
    elements that a model lists per medium and dimension; `media_per_task` and `per_task` limit a
    dimension before and after annotation.
    """

    media: Path
    tasks: tuple[str, ...] = NAMES
    listed: Path | None = None
    annotations: tuple[Path, ...] = ()
    annotators: tuple[str, ...] = ()
    merger: str | None = None
    most: int = 20
    media_per_task: int | None = None
    per_task: int | None = None
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise InvalidInput for options that fit no build."""
        if not self.annotations and not self.annotators:
            message = "nobody annotates: give --annotator SPEC or --annotations PATH"
            raise InvalidInput(message, field="annotations")


class AnnotationBuild:
    """One build in a directory, which this process has claimed. `media` are digests by path."""

    def __init__(
        self, options: AnnotationOptions, models: ModelSteps, media: Mapping[str, str]
    ) -> None:
        options.check()
        self._options, self._models, self._media = options, models, media

    async def run(self, directory: BuildDirectory, show: Show) -> BuildResult:
        """Go through all steps; those with unchanged inputs are not repeated.

        Raises what the runs of model steps raise, and InvalidInput for broken files.
        """
        return await StepSequence(directory, self._facts(), show).run(self._steps())

    def _facts(self) -> dict[str, Any]:
        options = self._options
        # Addresses of models do not matter here, and may hold secrets.
        settings = {
            "most": options.most,
            "media_per_task": options.media_per_task,
            "per_task": options.per_task,
            "seed": options.seed,
            "set": dict(options.settings),
        }
        return {
            "benchmark": CAPABILITY.benchmark,
            "domain": CAPABILITY.benchmark,
            "categories": list(options.tasks),
            "settings": settings,
            "pictures": dict(self._media),
        }

    def _steps(self) -> Steps:
        options, media = self._options, dict(self._media)
        supplied = [DatasetFiles(path).digest(_TABLE) for path in options.annotations]
        listed = None if options.listed is None else DatasetFiles(options.listed).digest(_TABLE)
        modelled = bool(options.annotators)
        drawing = [listed, options.tasks, options.media_per_task, options.seed]
        texts = {name: instruction(TASKS[name]) for name in options.tasks}
        annotators = self._models.inputs(*options.annotators)
        written = [annotators, options.most, dict(options.settings), texts]
        merger = [self._models.inputs(options.merger), dict(options.settings)]
        prompt, merging = map(self._models.prompt, (ModelStep.ANNOTATE, ModelStep.MERGE))
        return (
            (MEDIA, [media, drawing, None if modelled else supplied], self._draw_media),
            (ANNOTATIONS, [media, supplied, written, prompt], self._annotations),
            (FORMATS, [__version__], self._formats),
            (MERGE, [merger, merging, __version__], self._merge),
            (DRAW, [options.seed, __version__], self._draw),
            (BALANCE, [options.per_task, options.seed, __version__], self._balance),
        )

    def _rows(self) -> Iterator[Row]:
        return chain.from_iterable(
            DatasetFiles(path).rows(_TABLE) for path in self._options.annotations
        )

    def _supplied(self) -> Iterator[Candidate]:
        return read_annotations(self._rows(), self._media, self._options.tasks)

    async def _draw_media(self, _: Sequence[Fate]) -> StepResult:
        options = self._options
        listed = [ListedMedium(path) for path in self._media]
        if options.listed is not None:
            listed = read_media(DatasetFiles(options.listed).rows(_TABLE), self._media)
        annotated = None
        if not options.annotators:
            annotated = {(each.image, each.category) for each in self._supplied()}
        clips = {path for path in self._media if PurePath(path).suffix.lower() in CLIPS}
        fates = media_of_dimensions(listed, options.tasks, clips, annotated)
        return StepResult(MEDIA, draw_media(fates, options.media_per_task, options.seed))

    async def _annotations(self, before: Sequence[Fate]) -> StepResult:
        options, media = self._options, [fate.candidate for fate in before]
        rows = [
            writing_row(
                path,
                tasks,
                options.most,
                ModelStep.ANNOTATE,
                [instruction(TASKS[name]) for name in tasks],
            )
            for path, tasks in group_by_medium(media).items()
        ]
        written = await self._models.write(ModelStep.ANNOTATE, rows, options.annotators)
        candidates = [
            credit_annotator(each, f"model {number + 1}")
            for number, own in enumerate(written.candidates)
            for each in own
        ]
        return StepResult(
            name=ANNOTATIONS,
            fates=keep_drawn_media((*self._supplied(), *candidates), media),
            models=written.models,
            prompts=self._models.prompt(ModelStep.ANNOTATE) if written.models else {},
            remarks=written.remarks,
        )

    async def _formats(self, fates: Sequence[Fate]) -> StepResult:
        return StepResult(FORMATS, check_annotations(fate.candidate for fate in fates))

    async def _merge(self, fates: Sequence[Fate]) -> StepResult:
        spec, candidates = self._options.merger, [fate.candidate for fate in fates]
        lists = lists_to_merge(candidates)
        if spec is None or not lists:
            return StepResult(MERGE, merge_annotations(candidates))
        rows = [
            writing_row(
                path,
                list(names),
                MOST_ELEMENTS,
                ModelStep.MERGE,
                [list_text(TASKS[name], own) for name, own in names.items()],
            )
            for path, names in lists.items()
        ]
        written = await self._models.write(ModelStep.MERGE, rows, [spec])
        same = same_elements(candidates, written.candidates[0])
        return StepResult(
            name=MERGE,
            fates=merge_annotations(candidates, same, written.models[0]),
            models=written.models,
            prompts=self._models.prompt(ModelStep.MERGE),
            remarks=written.remarks,
        )

    async def _draw(self, fates: Sequence[Fate]) -> StepResult:
        return StepResult(DRAW, draw_elements(fates, self._options.seed))

    async def _balance(self, fates: Sequence[Fate]) -> StepResult:
        options = self._options
        skipped = "no --per-task" if options.per_task is None else ""
        balanced = balance(fates, options.per_task, options.seed, CAPABILITY.share)
        return StepResult(BALANCE, balanced, skipped=skipped)
