"""The policy of a gate, from YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, field_validator

from caliper.analysis.gate import Check, Policy, Tier
from caliper.analysis.significance import LEVEL
from caliper.benchmarks.registry import benchmark_names
from caliper.core.run import COVERAGE_FLOOR
from caliper.wiring.strict import Strict, first_problem
from caliper.wiring.yaml_text import read_document


class _Check(Strict):
    benchmark: str
    figure: str = Field(min_length=1)
    tier: Tier = Tier.CRITICAL
    max_drop: float | None = Field(default=None, ge=0)
    max_relative_drop: float | None = Field(default=None, ge=0, le=1)
    min_pairs: int = Field(default=2, ge=2)

    @field_validator("benchmark")
    @classmethod
    def _check_benchmark(cls, value: str) -> str:
        if value not in benchmark_names():
            raise ValueError(f"unknown benchmark {value!r}; known: {', '.join(benchmark_names())}")
        return value


class _Policy(Strict):
    checks: tuple[_Check, ...] = Field(min_length=1)
    level: float = Field(default=LEVEL, gt=0, lt=0.5)
    min_coverage: float = Field(default=COVERAGE_FLOOR, ge=0, le=1)


def read_policy(path: Path) -> Policy:
    """The policy in a YAML file. Raises InvalidInput naming file, line and field.

    level: 0.05            # optional: the significance level
    min_coverage: 0.99     # optional: share of a benchmark's questions that have a score
    checks:
      - benchmark: capability
        figure: average.f1     # a path in report.json; tasks.*.f1 means all tasks
        tier: critical         # critical, supporting or advisory
        max_drop: 1.0          # in the figure's unit
        max_relative_drop: 0.02
        min_pairs: 100         # media in both runs
    """
    root, values = read_document(path)
    return check_policy(values, file=str(path), root=root)


def check_policy(values: Any, *, file: str = "", root: yaml.Node | None = None) -> Policy:
    """The policy from plain values. Raises InvalidInput naming file, line and field."""
    try:
        policy = _Policy.model_validate(values)
    except ValidationError as error:
        depth = len(error.errors()[0]["loc"])
        keys = (_Check if depth > 1 else _Policy).model_fields
        raise first_problem(error, keys, file, root) from error
    checks = tuple(Check(**check.model_dump()) for check in policy.checks)
    return Policy(checks, policy.level, policy.min_coverage)
