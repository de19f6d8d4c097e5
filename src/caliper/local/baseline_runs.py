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


def place_again(base: RunDirectory) -> Path:
    """The directory of the run that judges questions of another again."""
    return base.path / "again" / "run"


def place_whole(base: RunDirectory) -> Path:
    """The directory of the run that judges another in full."""
    return base.path / "whole" / "run"


def plan_by_policy(base: RunDirectory, policy: Policy) -> SequentialPlan:
    """The plan of a gate's policy, with repeated judgements of the baseline, if any."""
    again = RunDirectory(place_again(base))
    repeats = again.stored_run if again.is_finished else None
    return SequentialPlan(base.stored_run, policy, None, policy.level, repeats, ModelRoom.rules())


async def config_again(suite: Suite, base: RunDirectory) -> RunConfig:
    """The configuration of a run, in the baseline's directory, that judges its captions again.

    Raises InvalidInput for captions that cannot be written as supplied ones, and what
    `RunDirectory.captions` raises.
    """
    return await _over_captions(share_again(suite, base.read_spec()), base, place_again(base))


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


def share_again(suite: Suite, base: RunSpec) -> RunConfig:
    """The configuration of a run that judges part of a baseline again, without its captions."""
    config = in_full(suite, base)
    # A replicate of its own: no replies of the baseline are reused.
    update = {"judge_share": SHARE, "replicate": config.replicate + 1}
    return config.model_copy(update=update)


def in_full(suite: Suite, base: RunSpec) -> RunConfig:
    """The configuration of a run that judges a baseline in full, without its captions."""
    config = check_config(suite.values["run"], file=f"suite {suite.name}")
    parts = {
        name: part.model_copy(update=_OF_A_CAPTIONER) for name, part in config.benchmarks.items()
    }
    return config.model_copy(update={"benchmarks": parts, "name": base.name, "anchors": False})
