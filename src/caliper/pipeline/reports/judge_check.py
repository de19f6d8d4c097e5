"""The judge check of a report: how anchors were judged alongside its run.

    runs/<id>/anchors/<benchmark>.json

It describes the execution. No figure depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from caliper.analysis.drift import AnchorJudgement
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.report import JudgeCheck, Report
from caliper.core.run import RunSpec
from caliper.core.terms import Terms
from caliper.pipeline.store.runs import read_json, write_json
from caliper.ports.storage import ObjectStore

AnchorJudgements = Mapping[str, AnchorJudgement]
"""Judgements by benchmark."""


def should_check(terms: Terms, *, choice: bool | None) -> bool:
    """Whether to judge anchors when a run starts on these terms.

    `choice` is the user's explicit choice. Without one, anchors are judged only if no cap is set:
    a user who sets a cap counts every call.
    """
    return not terms.is_capped if choice is None else choice


def with_checks(report: Report, judgements: AnchorJudgements) -> Report:
    """The report, with the judge check of every benchmark whose anchors were judged."""
    parts = (replace(part, check=_check(judgements.get(part.name))) for part in report.benchmarks)
    return replace(report, benchmarks=tuple(parts))


def _check(judgement: AnchorJudgement | None) -> JudgeCheck | None:
    if judgement is None or not judgement.verdicts:
        return None
    return JudgeCheck(
        judgement.correct_count,
        judgement.scored_count,
        len(judgement.verdicts) - judgement.scored_count,
    )


async def save_judgement(run: ObjectStore, name: str, judgement: AnchorJudgement) -> None:
    """Store a judgement of a benchmark's anchors, unless the stored one has as many scores or more.

    So several processes and redelivered jobs leave one judgement. `run` is the run's own
    part of the store. Raises NewerSchema, StoreUnavailable or StoreFull.
    """
    stored = await _read(run, name)
    if stored is None or stored.scored_count < judgement.scored_count:
        await write_json(run, _key(name), **judgement.to_json())


async def read_judgements(run: ObjectStore, spec: RunSpec) -> AnchorJudgements:
    """The stored judgements of a run; `run` is its own part of the store.

    Raises NewerSchema, StoreUnavailable.
    """
    judgements = {part.name: await _read(run, part.name) for part in spec.benchmarks}
    return {name: judgement for name, judgement in judgements.items() if judgement is not None}


async def _read(run: ObjectStore, name: str) -> AnchorJudgement | None:
    try:
        data = await read_json(run, _key(name))
        return None if data is None else AnchorJudgement.from_json(data)
    except NewerSchema:
        raise
    except (InvalidInput, ValueError):
        # Better a report without its check than none: no figure depends on a damaged judgement.
        return None


def _key(name: str) -> str:
    return f"anchors/{name}.json"
