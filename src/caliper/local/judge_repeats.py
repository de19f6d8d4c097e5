"""Judges part of a baseline's questions again, to measure the judge's noise and drift."""

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
    config = share_again(suite, base.read_spec())
    captions = await base.captions(await base.stored_run.open())
    folder = base.path / "again"
    parts = {
        name: part.model_copy(
            update={
                "captions": write_captions(name, captions.get(name, {}), folder / "captions" / name)
            }
        )
        for name, part in config.benchmarks.items()
    }
    return config.model_copy(update={"benchmarks": parts, "out": place_again(base)})


def share_again(suite: Suite, base: RunSpec) -> RunConfig:
    """The configuration of a run that judges part of a baseline again, without its captions."""
    config = check_config(suite.values["run"], file=f"suite {suite.name}")
    parts = {
        name: part.model_copy(update=_OF_A_CAPTIONER) for name, part in config.benchmarks.items()
    }
    update = {
        "benchmarks": parts,
        "name": base.name,
        "judge_share": SHARE,
        # A replicate of its own: no replies of the baseline are reused.
        "replicate": config.replicate + 1,
        "anchors": False,
    }
    return config.model_copy(update=update)
