"""The judge check of a report: how the anchors were judged beside its run.

    runs/<id>/anchors/<benchmark>.json

It tells of the execution. No figure depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from caliper.analysis.drift import Sitting
from caliper.core.caps import Caps
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.report import JudgeCheck, Report
from caliper.core.run import RunSpec
from caliper.pipeline.store.runs import read_json, write_json
from caliper.ports.storage import ObjectStore

Sittings = Mapping[str, Sitting]
"""One by benchmark."""


def check_wanted(caps: Caps, *, asked: bool | None) -> bool:
    """Whether anchors are judged beside a start of a run with those caps. Unless somebody `asked`
    for them or against them, only where no cap is set: who sets one counts every call.
    """
    return caps == Caps() if asked is None else asked


def with_checks(report: Report, sittings: Sittings) -> Report:
    """The report, with the judge check of every benchmark that has anchors, if they were judged."""
    parts = (replace(part, check=_check(sittings.get(part.name))) for part in report.benchmarks)
    return replace(report, benchmarks=tuple(parts))


def _check(found: Sitting | None) -> JudgeCheck | None:
    if found is None or not found.verdicts:
        return None
    return JudgeCheck(found.agreed, found.scored, len(found.verdicts) - found.scored)


async def keep_sitting(run: ObjectStore, name: str, sitting: Sitting) -> None:
    """Keep a sitting over a benchmark's anchors. One that is kept already stays, unless this one
    has more verdicts: several processes and redelivered jobs leave one sitting.

    `run` is the run's own part of the store. Raises NewerSchema, StoreUnavailable or StoreFull.
    """
    kept = await _read(run, name)
    if kept is None or kept.scored < sitting.scored:
        await write_json(run, _key(name), **sitting.to_json())


async def read_sittings(run: ObjectStore, spec: RunSpec) -> Sittings:
    """The sittings that are kept of a run; `run` is its own part of the store.

    Raises NewerSchema, StoreUnavailable.
    """
    found = {part.name: await _read(run, part.name) for part in spec.benchmarks}
    return {name: sitting for name, sitting in found.items() if sitting is not None}


async def _read(run: ObjectStore, name: str) -> Sitting | None:
    try:
        written = await read_json(run, _key(name))
        return None if written is None else Sitting.from_json(written)
    except NewerSchema:
        raise
    except (InvalidInput, ValueError):
        # A report without its check is better than none: no figure depends on a damaged sitting.
        return None


def _key(name: str) -> str:
    return f"anchors/{name}.json"
