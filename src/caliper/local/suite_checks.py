"""Checks of a suite's YAML file beyond those of single keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from caliper.adapters.hosts.template import FIELDS, fill
from caliper.analysis.gate import Policy
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig
from caliper.local.policy import check_policy, read_policy
from caliper.local.serve_config import ENDPOINT_FIELDS
from caliper.local.setup import answerer_spec
from caliper.local.suite_keys import SuiteKeys
from caliper.wiring.strict import line_of


def check_part(
    name: str, part: BenchmarkConfig, *, served: bool, file: Path, root: yaml.Node | None
) -> None:
    """Raise InvalidInput for a role that the benchmark lacks, or an unknown field of a SPEC."""
    try:
        answerer_spec(name, part)
        _check_template(part.captioner or "", (*FIELDS, *(ENDPOINT_FIELDS if served else ())))
    except InvalidInput as error:
        place = ("benchmarks", name, error.field)
        line = line_of(root, place)
        raise InvalidInput(
            error.message, file=str(file), line=line, field=".".join(place)
        ) from error


def _check_template(captioner: str, fields: Sequence[str]) -> None:
    try:
        rest = fill(captioner, dict.fromkeys(fields, ""))
    except InvalidInput as error:
        raise InvalidInput(error.message, field="captioner") from error
    if "{" in rest:
        # From the brace on: the URL before it may hold a secret.
        message = f"unknown field {rest[rest.index('{') :]:.40}; known: {', '.join(fields)}"
        raise InvalidInput(message, field="captioner")


def check_sequential(
    keys: SuiteKeys, config: RunConfig, path: Path, root: yaml.Node | None
) -> None:
    """Raise InvalidInput for a suite that cannot be judged in sequence."""
    whole = [name for name in config.benchmarks if not benchmark(name).is_divisible]
    rules = {
        "it needs a gate or a margin": keys.gate is None and keys.margin is None,
        "not with a budget of calls, which cuts in another order": keys.budget.calls is not None,
        f"not with {', '.join(whole)}, whose questions are judged together": bool(whole),
    }
    for message in (text for text, broken in rules.items() if broken):
        line = line_of(root, ("judging",))
        raise InvalidInput(message, file=str(path), line=line, field="judging")


def policy_of(keys: SuiteKeys, path: Path, root: yaml.Node | None) -> Policy | None:
    """The policy of a suite's gate, if any. Raises InvalidInput naming file, line and field."""
    if isinstance(keys.gate, str):
        return read_policy(path.parent / keys.gate)
    if keys.gate is None:
        return None
    try:
        return check_policy(keys.gate)
    except InvalidInput as error:
        place = (
            "gate",
            *(int(part) if part.isdigit() else part for part in error.field.split(".")),
        )
        field, line = f"gate.{error.field}", line_of(root, place)
        raise InvalidInput(error.message, file=str(path), line=line, field=field) from error
