"""Goes through the steps of a build; those with unchanged inputs are not repeated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from caliper.building.steps import Fate, StepResult, assess, coverage
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.model_steps import StepIncomplete
from caliper.version import __version__

Show = Callable[[StepResult, bool], None]
"""Shows a step; true if it had been done before."""
Work = Callable[[Sequence[Fate]], Awaitable[StepResult]]
Steps = Sequence[tuple[str, Any, Work]]
"""Every step: its name, its inputs besides the candidates, and its work."""


@dataclass(slots=True)
class BuildResult:
    """The result of a build. `stopped` says why it ended before its last step."""

    domain: str
    steps: list[StepResult] = field(default_factory=list)
    coverage: Mapping[str, int] = field(default_factory=dict)
    stopped: str = ""


class StepSequence:
    """The steps of one build in a directory, which this process has claimed.

    `facts` are the values of build.json that belong to no step: `benchmark`, `domain`,
    `categories`, `pictures` (digests by path) and others. Raises InvalidInput if the directory
    holds a build of another domain.
    """

    def __init__(self, directory: BuildDirectory, facts: Mapping[str, Any], show: Show) -> None:
        self._directory, self._show = directory, show
        self._facts = {"version": __version__, **facts}
        self._stored = directory.read()
        for name in ("benchmark", "domain"):
            stored = self._stored.get(name, facts[name])
            if stored != facts[name]:
                message = f"holds a build of {stored}, not of {facts[name]}"
                raise InvalidInput(message, file=str(directory.path), field=name)
        self._summaries: list[dict[str, Any]] = []
        self._result = BuildResult(facts["domain"])

    async def run(self, steps: Steps) -> BuildResult:
        """Go through all steps, and write the remaining candidates."""
        result = self._result
        fates: Sequence[Fate] = ()
        for name, inputs, work in steps:
            try:
                step = await self._step(name, inputs, partial(work, fates))
            except StepIncomplete as stop:
                result.stopped = f"{name}: {stop}"
                return result
            fates = [fate for fate in step.fates if not fate.dropped]
        categories = self._facts["categories"]
        result.coverage = coverage(categories, (fate.candidate for fate in fates))
        self._directory.write_candidates(assess(fates, self._facts["pictures"]))
        self._directory.write({**self._values(), "complete": True})
        return result

    async def _step(
        self, name: str, inputs: Any, work: Callable[[], Awaitable[StepResult]]
    ) -> StepResult:
        before = self._summaries[-1]["file"] if self._summaries else ""
        key = digest([name, before, inputs])
        summaries = {each["step"]: each for each in self._stored.get("steps", ())}
        step = self._directory.stored_step(summaries.get(name, {}), key)
        is_stored = step is not None
        if step is None:
            step = await work()
            summary = self._directory.write_step(step, key)
        else:
            summary = summaries[name]
        self._summaries.append(summary)
        self._directory.write(self._values())
        self._result.steps.append(step)
        self._show(step, is_stored)
        return step

    def _values(self) -> dict[str, Any]:
        done = len(self._summaries)
        # In a changed build, later steps stay as they were until they are done again.
        return {**self._facts, "steps": [*self._summaries, *self._stored.get("steps", [])[done:]]}
