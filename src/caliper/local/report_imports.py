"""Imports modules that only a run's report needs, while its models are busy."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from importlib import import_module

_MODULES = ("numpy", "caliper.adapters.exports.parquet", "jinja2")
_STEP = 0.3
"""Seconds between these imports, for reading replies."""


def schedule_imports() -> None:
    """Import them soon, one after another. Importing in a thread would delay replies four times as
    long.
    """
    loop = asyncio.get_running_loop()
    for number, name in enumerate(_MODULES):
        loop.call_later(number * _STEP, _import, name)


def _import(name: str) -> None:
    with suppress(ModuleNotFoundError):
        import_module(name)
