"""The judge check of a report: the anchors' verdicts alongside its run.

    runs/<id>/anchors/<benchmark>.json

It describes the execution; no figure depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from caliper.analysis.drift import Sitting
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.report import JudgeCheck, Report
from caliper.core.run import RunSpec
from caliper.core.terms import Terms
from caliper.pipeline.store.runs import read_json, write_json
from caliper.ports.storage import ObjectStore

Sittings = Mapping[str, Sitting]
"""Sittings by benchmark."""


def should_check(terms: Terms, *, choice: bool | None) -> bool:
    """Whether to judge anchors when a run starts on these terms.

    `choice` is the user's explicit choice. Without one, anchors are judged only if no cap is set:
    a user who sets a cap counts every call.
    """
    return not terms.is_capped if choice is None else choice


def with_checks(report: Report, sittings: Sittings) -> Report:
    """The report, with the judge check of every benchmark whose anchors were judged."""
    parts = (replace(part, check=_check(sittings.get(part.name))) for part in report.benchmarks)
    return replace(report, benchmarks=tuple(parts))


def _check(sitting: Sitting | None) -> JudgeCheck | None:
    if sitting is None or not sitting.verdicts:
        return None
    return JudgeCheck(
        sitting.correct_count, sitting.scored_count, len(sitting.verdicts) - sitting.scored_count
    )


async def save_sitting(run: ObjectStore, name: str, sitting: Sitting) -> None:
    """Store a sitting over a benchmark's anchors, unless a stored one has as many scores or more.

    So several processes and redelivered jobs leave one sitting. `run` is the run's own part of the
    store. Raises NewerSchema, StoreUnavailable or StoreFull.
    """
    stored = await _read(run, name)
    if stored is None or stored.scored_count < sitting.scored_count:
        await write_json(run, _key(name), **sitting.to_json())


async def read_sittings(run: ObjectStore, spec: RunSpec) -> Sittings:
    """The stored sittings of a run; `run` is its own part of the store.

    Raises NewerSchema, StoreUnavailable.
    """
    sittings = {part.name: await _read(run, part.name) for part in spec.benchmarks}
    return {name: sitting for name, sitting in sittings.items() if sitting is not None}


async def _read(run: ObjectStore, name: str) -> Sitting | None:
    try:
        data = await read_json(run, _key(name))
        return None if data is None else Sitting.from_json(data)
    except NewerSchema:
        raise
    except (InvalidInput, ValueError):
        # A report without its check is better than none: no figure depends on a damaged sitting.
        return None


def _key(name: str) -> str:
    return f"anchors/{name}.json"
