"""The criterion that ends a run once its comparison with a baseline is sure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from caliper.analysis.gate import Check, Policy, Tier
from caliper.core.errors import DataLoss, InvalidInput
from caliper.core.keys import digest
from caliper.core.run import RunSpec
from caliper.pipeline.store.runs import read_as, write_json
from caliper.ports.storage import ObjectStore

CRITERION = "judging.json"


@dataclass(frozen=True, slots=True)
class StopCriterion:
    """The run that a checkpoint is compared with, and the checks to decide.

    `policy` has the checks, None for a drop of `margin` points in every headline; `level` is the
    level of each, except `alarm_level`, if given, for regressions. `repeats` is the run that judged
    some of the baseline again, and `rules` the revision of rules whose verdicts narrow the
    comparison; empty for none. `similar` is as in analysis.sequential.StopTarget.
    """

    base: str
    policy: Policy | None
    margin: float | None
    level: float
    repeats: str = ""
    rules: str = ""
    alarm_level: float | None = None
    similar: bool = False

    @property
    def digest(self) -> str:
        """The digest of all that decides the run's end and order of draws, except its captions."""
        policy = None if self.policy is None else asdict(self.policy)
        own = [self.base, policy, self.margin, self.level, self.repeats or None]
        more = [self.rules or None, self.alarm_level, *(["similar"] if self.similar else ())]
        return digest(own if more == [None, None] else [*own, *more])

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> StopCriterion:
        """The criterion in judging.json. Raises InvalidInput."""
        try:
            policy = fields["policy"]
            if policy is not None:
                checks = (
                    Check(**{**each, "tier": Tier(each["tier"])}) for each in policy["checks"]
                )
                policy = Policy(tuple(checks), policy["level"], policy["min_coverage"])
            names = ("margin", "level", "repeats", "rules", "alarm_level", "similar")
            # Earlier releases wrote no target.
            values = {"similar": False, **fields}
            return cls(fields["base"], policy, *(values[name] for name in names))
        except (LookupError, TypeError, ValueError) as error:
            raise InvalidInput(f"not a stop criterion: {error!r}") from error


async def write_criterion(run: ObjectStore, criterion: StopCriterion) -> None:
    """Store the criterion of a run. `run` is its own part of the store. Raises StoreUnavailable or
    StoreFull.
    """
    await write_json(run, CRITERION, **asdict(criterion))


async def read_criterion(run: ObjectStore, spec: RunSpec) -> StopCriterion:
    """The criterion of the run of a spec. `run` is its own part of the store.

    Raises NewerSchema, DataLoss if it is lost or does not match the spec, StoreUnavailable.
    """
    criterion = await read_as(run, CRITERION, StopCriterion.from_json)
    if criterion is None:
        raise DataLoss.missing(CRITERION)
    if criterion.digest != spec.judging:
        raise DataLoss("does not match the spec", file=CRITERION)
    return criterion
