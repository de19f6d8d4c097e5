"""Checks of a suite's YAML file beyond those of single keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from caliper.adapters.hosts.template import FIELDS, fill
from caliper.analysis.gate import Policy
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, UnknownName
from caliper.local.config import RunConfig, is_installed
from caliper.local.part_checks import check_parts, check_specs
from caliper.local.policy import check_policy, read_policy
from caliper.local.serve_config import ENDPOINT_FIELDS
from caliper.local.suite_keys import SuiteKeys
from caliper.wiring.data_sources import data_name
from caliper.wiring.strict import line_of


def check_suite_parts(config: RunConfig, *, served: bool, installed: bool) -> None:
    """Raise InvalidInput naming file, line and field for what needs no models and no data: roles,
    settings, caption prompts, fields of SPECs, and SPECs unless the models are an installation's;
    and for data that are not there.
    """
    check_parts(config)
    fields = (*FIELDS, *(ENDPOINT_FIELDS if served else ()))
    for name, part in config.benchmarks.items():
        with config.origin.naming(name, "captioner"):
            _check_template(part.captioner or "", fields)
        with config.origin.naming(name, "data"):
            _check_exists(part.data)
    if not installed:
        check_specs(config)


def _check_exists(data: Path) -> None:
    if data_name(data) is None and not is_installed(data) and not data.exists():
        raise InvalidInput(f"{data}: it does not exist")


def _check_template(captioner: str, fields: Sequence[str]) -> None:
    rest = fill(captioner, dict.fromkeys(fields, ""))
    if "{" in rest:
        # From the brace on: the URL before it may hold a secret.
        message = f"unknown field {rest[rest.index('{') :]:.40}; known: {', '.join(fields)}"
        raise InvalidInput(message)


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
    if keys.gate is None:
        return None
    gate = keys.gate
    try:
        policy = read_policy(path.parent / gate) if isinstance(gate, str) else check_policy(gate)
        _check_figures(policy)
    except InvalidInput as error:
        keys_within = () if isinstance(gate, str) else error.field.split(".")
        place = ("gate", *(int(part) if part.isdigit() else part for part in keys_within))
        message = error.message
        if isinstance(gate, str):
            message = str(error) if error.file else f"{gate}: {error}"
        field, line = ".".join(map(str, place)), line_of(root, place)
        raise InvalidInput(message, file=str(path), line=line, field=field) from error
    return policy


def _check_figures(policy: Policy) -> None:
    """Raise InvalidInput for a figure that no report can have, as far as its benchmark tells."""
    for place, check in enumerate(policy.checks):
        own = benchmark(check.benchmark)
        keys = check.figure.split(".")
        any_of = any("*" in key or "?" in key or "[" in key for key in (keys[0], keys[-1]))
        if own.better and not any_of and own.direction(tuple(keys)) is None:
            known = tuple(sorted(own.better))
            unknown = UnknownName(f"figure of {check.benchmark}", check.figure, known)
            raise InvalidInput(unknown.message, field=f"checks.{place}.figure")
