"""Suites: how every checkpoint is measured, compared with a baseline, and decided on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import InvalidInput, NotReady
from caliper.core.terms import Priority
from caliper.core.transitions import Transition

STEP = "{step}"
_DIGITS = r"(?<!\d)(\d{1,18})(?!\d)"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)


def check_suite_name(name: str) -> str:
    """The name. Raises InvalidInput, with the field `name`, for one that is not usable as a key."""
    if not _NAME.fullmatch(name):
        message = f"expected lower-case letters, digits, - and _ only, found {name!r:.80}"
        raise InvalidInput(message, field="name")
    return name


class SuiteState(StrEnum):
    """The state of a suite. A paused one registers checkpoints but evaluates none."""

    ACTIVE = "active"
    PAUSED = "paused"
    RETIRED = "retired"


class SuiteCause(StrEnum):
    """A cause of a suite's change of state."""

    PAUSE = "paused"
    RESUMPTION = "resumed"
    RETIREMENT = "retired"


SUITE_TRANSITIONS = (
    Transition(SuiteCause.PAUSE, "active paused", "paused", "a person"),
    Transition(SuiteCause.RESUMPTION, "active paused retired", "active", "a person"),
    Transition(SuiteCause.RETIREMENT, "active paused retired", "retired", "a person"),
)
_AFTER = {
    (SuiteState(state), each.cause): SuiteState(each.after)
    for each in SUITE_TRANSITIONS
    for state in each.before.split()
}


def suite_state_after(state: SuiteState, cause: SuiteCause) -> SuiteState:
    """The state of a suite after `cause`. Raises NotReady if the current state forbids it."""
    after = _AFTER.get((state, cause))
    if after is None:
        raise NotReady(f"the suite is {state} and cannot be {cause}")
    return after


class BaselineKind(StrEnum):
    """Which checkpoint of the suite is the baseline."""

    PREVIOUS = "previous"
    BEST = "best"
    PINNED = "pinned"
    TAG = "tag"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A rule that chooses the baseline. `name` is the pinned revision, or the tag."""

    kind: BaselineKind = BaselineKind.PREVIOUS
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> Baseline:
        """Read `previous`, `best`, `pinned:REVISION` or `tag:NAME`. Raises ValueError."""
        kind, _, name = text.partition(":")
        is_kind = kind in list(BaselineKind)
        if not is_kind or bool(name) != (kind in (BaselineKind.PINNED, BaselineKind.TAG)):
            raise ValueError(f"expected previous, best, pinned:REVISION or tag:NAME, found {text}")
        return cls(BaselineKind(kind), name)

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}" if self.name else str(self.kind)


def check_step_pattern(pattern: str) -> str:
    """The pattern. Raises InvalidInput, with the field `step`, without one {step}."""
    if pattern and pattern.count(STEP) != 1:
        raise InvalidInput(f"expected text with one {STEP}, found {pattern!r:.80}", field="step")
    return pattern


def step_in(text: str, pattern: str = "") -> int | None:
    """The training step in a name: the last number surrounded by the text of `pattern`, by default
    the number at the end.
    """
    before, _, after = pattern.partition(STEP)
    places = re.escape(before) + _DIGITS + (re.escape(after) if pattern else "$")
    numbers = re.findall(places, text, re.ASCII)
    return int(numbers[-1]) if numbers else None


@dataclass(frozen=True, slots=True)
class Suite:
    """One version of a suite. `version` is 16 digits of the digest of everything that affects
    results; priority, budget and retention may change without a new version.

    `values` is the configuration for the evaluator, and `keep` the number of checkpoints whose
    runs are kept, None for all. `step` is the text around {step} in the names or sources of
    checkpoints; empty for the number at the end of a name.
    """

    name: str
    version: str
    baseline: Baseline
    values: Mapping[str, Any]
    priority: Priority = Priority.NORMAL
    keep: int | None = None
    step: str = ""

    def numbered(self, checkpoint: CheckpointRevision) -> CheckpointRevision:
        """The checkpoint, with the training step from its name or source if it has none."""
        if checkpoint.step is not None:
            return checkpoint
        for text in (checkpoint.name, *((checkpoint.source,) if self.step else ())):
            if (step := step_in(text, self.step)) is not None:
                return replace(checkpoint, step=step)
        return checkpoint

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "version": self.version,
            "baseline": str(self.baseline),
            "values": dict(self.values),
            "priority": self.priority,
            "keep": self.keep,
            "step": self.step,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Suite:
        """Read a suite. Raises InvalidInput."""
        try:
            return cls(
                check_suite_name(fields["name"]),
                str(fields["version"]),
                Baseline.parse(fields["baseline"]),
                dict(fields["values"]),
                Priority(fields["priority"]),
                fields.get("keep"),
                check_step_pattern(fields.get("step", "")),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"not a suite: {error!r:.200}") from error


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    """The current version of a suite, and its state. `applied` is when the version was applied."""

    suite: Suite
    state: SuiteState
    applied: str

    def to_json(self) -> dict[str, Any]:
        return {"suite": self.suite.to_json(), "state": self.state, "applied": self.applied}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> SuiteRecord:
        """Read a record. Raises InvalidInput."""
        try:
            state = SuiteState(fields["state"])
            return cls(Suite.from_json(fields["suite"]), state, str(fields["applied"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"not a suite record: {error!r:.200}") from error
