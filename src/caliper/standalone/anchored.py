"""The anchors of a local run: judged beside it, and read back from its execution.json."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from caliper.analysis.drift import Drift, Sitting, drift
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.pipeline.judge_check import Sittings
from caliper.ports.telemetry import Watcher
from caliper.runtime.anchors.judging import REPLAY, judge_anchors
from caliper.standalone.directory import RunDirectory
from caliper.standalone.prepare import Prepared


async def sit(prepared: Prepared, watcher: Watcher) -> Sittings:
    """Have the judges and readers of a run judge the anchors, unless the run is to have none.

    Raises ModelChanged.
    """
    found: dict[str, Sitting] = {}
    for part in prepared.spec.benchmarks if prepared.config.with_anchors else ():
        if part.models[benchmark(part.name).role].kind != REPLAY:
            found[part.name] = await judge_anchors(prepared.spec, prepared.models, part.name)
        elif prepared.config.anchors:
            watcher.warned(f"{part.name}: recorded replies hold none to the anchors")
    return found


def kept_sittings(directory: RunDirectory) -> Sittings:
    """What execution.json tells of a run's anchors: nothing where none were judged.

    Raises InvalidInput for a file that cannot be read.
    """
    try:
        written = directory.read_execution().get("anchors", {})
        return {str(name): Sitting.from_json(sitting) for name, sitting in written.items()}
    except (ValueError, AttributeError) as error:
        file = str(directory.path / "execution.json")
        raise InvalidInput(str(error), file=file, field="anchors") from error


@dataclass(frozen=True, slots=True)
class Drifted:
    """Two runs' anchors of one benchmark; `drift` is None where the sets are not the same."""

    benchmark: str
    first: Sitting
    second: Sitting
    drift: Drift | None


def drifted(first: RunDirectory, second: RunDirectory) -> Iterator[Drifted]:
    """The benchmarks whose anchors both runs judged, and not alike.

    Raises InvalidInput for an execution.json that cannot be read.
    """
    before, after = kept_sittings(first), kept_sittings(second)
    for name, sitting in before.items():
        if name not in after:
            continue
        found = drift(sitting, after[name])
        if found is None or found.changed or sitting.agreement != after[name].agreement:
            yield Drifted(name, sitting, after[name], found)
