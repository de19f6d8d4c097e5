"""Check requested settings and caption prompts against those a benchmark declares."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from caliper.benchmarks.base import Setting
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput, UnknownName


def resolve_settings(name: str, overrides: Mapping[str, str]) -> dict[str, str]:
    """Return all protocol settings of a benchmark, with defaults filled in.

    A setting is omitted if its value is the one implied by specs without it, so that runs that
    predate the setting keep their identity. Raises UnknownName for an unknown setting or value,
    InvalidInput for a number out of range.
    """
    declared = {setting.name: setting for setting in benchmark(name).settings}
    settings = {setting.name: setting.default for setting in declared.values()}
    for key, value in overrides.items():
        if key not in declared:
            raise UnknownName(f"setting of {name}", key, tuple(declared))
        setting = declared[key]
        if setting.choices and value not in setting.choices:
            raise UnknownName(f"value of {key}", value, setting.choices)
        if setting.range is not None:
            _check_range(setting, value, setting.range)
        settings[key] = value
    return {key: value for key, value in settings.items() if value != declared[key].absent}


def check_prompt(name: str, prompt: str) -> None:
    """Raise UnknownName for a caption prompt that the benchmark lacks."""
    known = benchmark(name).caption_prompts
    if prompt not in known:
        raise UnknownName(f"caption prompt of {name}", prompt, known)


def _check_range(setting: Setting, value: str, bounds: tuple[float, float]) -> None:
    whole = setting.default.isdigit()
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number) or (whole and not re.fullmatch("[0-9]+", value)):
        kind = "whole number" if whole else "number"
        raise InvalidInput(f"expected a {kind}, found {value!r}", field=setting.name)
    if not bounds[0] <= number <= bounds[1]:
        message = f"{value} is not from {bounds[0]:.15g} to {bounds[1]:.15g}"
        raise InvalidInput(message, field=setting.name)
