"""Runs over the captions of a baseline: one judges it in full if its own run ended early, another
judges part of it again, to measure the judge's noise and drift.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from caliper.analysis.gate import Policy
from caliper.core.run import RunSpec
from caliper.core.suites import Suite
from caliper.local.caption_files import write_captions
from caliper.local.config import RunConfig, check_config
from caliper.local.directory import RunDirectory
from caliper.pipeline.aggregation.sequential import SequentialPlan
from caliper.wiring.models import ModelRoom

SHARE = 0.05
"""The share of questions judged again."""
_OF_A_CAPTIONER: dict[str, Any] = {
    **dict.fromkeys(("captioner", "caption_tokens", "taxonomy", "qa", "qa_replies")),
    "preparation": {},
}


def place_again(base: RunDirectory, number: int) -> Path:
    """The directory of the run that judges questions of another again, for the comparison of this
    number.
    """
    return base.path / "again" / str(number) / "run"


def place_whole(base: RunDirectory) -> Path:
    """The directory of the run that judges another in full."""
    return base.path / "whole" / "run"


def plan_by_policy(base: RunDirectory, run: RunDirectory, policy: Policy) -> SequentialPlan:
    """The plan of a gate's policy for a run, with the last repeated judgements of the baseline
    before the run ended, if any.
    """
    files = base.path.glob("again/*/run/execution.json")
    by_end = {_end(each): each for each in (RunDirectory(file.parent) for file in files)}
    before = [end for end in by_end if end <= _end(run)]
    repeats = by_end[max(before)].stored_run if before else None
    return SequentialPlan(base.stored_run, policy, None, policy.level, repeats, ModelRoom.rules())


def _end(run: RunDirectory) -> str:
    return str(run.read_execution().get("finished", ""))


async def config_again(suite: Suite, base: RunDirectory, number: int) -> RunConfig:
    """The configuration of a run, in the baseline's directory, that judges its captions again, for
    the comparison of this number.

    Raises InvalidInput for captions that cannot be written as supplied ones, and what
    `RunDirectory.captions` raises.
    """
    config, place = share_again(suite, base.read_spec(), number), place_again(base, number)
    return await _over_captions(config, base, place)


async def config_whole(suite: Suite, base: RunDirectory) -> RunConfig:
    """The configuration of a run, in the baseline's directory, that judges all of its captions.
    Replies that the baseline got are not requested again. Raises what `config_again` raises.
    """
    config = await _over_captions(in_full(suite, base.read_spec()), base, place_whole(base))
    return config.model_copy(update={"store": base.path.parent / ".store"})


async def _over_captions(config: RunConfig, base: RunDirectory, out: Path) -> RunConfig:
    captions = await base.captions(await base.stored_run.open())
    folder = out.parent / "captions"
    parts = {
        name: part.model_copy(
            update={"captions": write_captions(name, captions.get(name, {}), folder / name)}
        )
        for name, part in config.benchmarks.items()
    }
    return config.model_copy(update={"benchmarks": parts, "out": out})


def share_again(suite: Suite, base: RunSpec, number: int) -> RunConfig:
    """The configuration of a run that judges part of a baseline again, without its captions."""
    config = in_full(suite, base)
    # A replicate of its own for each comparison: the judge may have drifted since the one before.
    update = {"judge_share": SHARE, "replicate": config.replicate + number}
    return config.model_copy(update=update)


def in_full(suite: Suite, base: RunSpec) -> RunConfig:
    """The configuration of a run that judges a baseline in full, without its captions."""
    config = check_config(suite.values["run"], file=f"suite {suite.name}")
    parts = {
        name: part.model_copy(update=_OF_A_CAPTIONER) for name, part in config.benchmarks.items()
    }
    return config.model_copy(update={"benchmarks": parts, "name": base.name, "anchors": False})
