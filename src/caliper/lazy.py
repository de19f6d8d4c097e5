"""Modules that take long to import, and that not every command or service needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class _Deferred:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def lazy_module(name: str) -> Any:
    """The module of that name, imported when something of it is first asked for.

    It stands in the `else` of `if TYPE_CHECKING: from package import module`, so that type
    checkers and the rules about imports see the import.
    """
    return _Deferred(name)
