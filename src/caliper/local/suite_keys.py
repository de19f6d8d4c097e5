"""The keys of a suite's YAML file that a run does not have."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from caliper.core.errors import InvalidInput
from caliper.core.suites import Baseline, check_step_pattern, check_suite_name
from caliper.local.notify import NotifyTarget, TargetName
from caliper.local.serve_config import ServeConfig
from caliper.pipeline.suites.evaluation_watch import LONGEST
from caliper.wiring.strict import Strict


class MonthlyBudget(Strict):
    """Spending limits of a suite per calendar month (UTC). Money by CALIPER_PRICES."""

    calls: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    money: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class SuiteBudget(Strict):
    """Spending limits of the evaluation of one checkpoint, and of a month."""

    calls: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    month: MonthlyBudget = MonthlyBudget()


class SuiteRetention(Strict):
    """How many checkpoints keep their run directories: the last by training step."""

    keep: int | None = Field(default=None, ge=1)


class SuiteKeys(Strict):
    """The keys of a suite that a run does not have. `timeout` is in seconds per checkpoint."""

    name: str
    gate: str | dict[str, Any] | None = None
    baseline: str = "previous"
    margin: float | None = Field(default=None, ge=0)
    step: str = ""
    judging: Literal["full", "sequential"] = "full"
    alarms: Literal["checkpoint", "suite"] = "checkpoint"
    target: Literal["these", "similar"] = "these"
    budget: SuiteBudget = SuiteBudget()
    retention: SuiteRetention = SuiteRetention()
    timeout: float = Field(default=LONGEST, gt=0)
    notify: dict[TargetName, NotifyTarget] = Field(default_factory=dict)
    serve: ServeConfig | None = None

    @field_validator("name")
    @classmethod
    def _usable(cls, value: str) -> str:
        try:
            return check_suite_name(value)
        except InvalidInput as error:
            raise ValueError(error.message) from error

    @field_validator("step")
    @classmethod
    def _readable(cls, value: str) -> str:
        try:
            return check_step_pattern(value)
        except InvalidInput as error:
            raise ValueError(error.message) from error

    @field_validator("gate", mode="before")
    @classmethod
    def _path_or_policy(cls, value: object) -> object:
        if not isinstance(value, str | dict | None):
            message = "expected the path of a policy, or a mapping of its keys"
            raise ValueError(message)  # noqa: TRY004 - a TypeError is no problem of a field
        return value

    @field_validator("baseline")
    @classmethod
    def _known_rule(cls, value: str) -> str:
        return str(Baseline.parse(value))
