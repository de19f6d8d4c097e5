"""Plug-ins: what other packages add to Caliper by entry points."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from caliper.core.errors import CaliperError, FunctionFailed, InvalidInput

Plugin = TypeVar("Plugin")


@dataclass(frozen=True, slots=True)
class Declaration:
    """An entry point of a package, which points to `place`. `problem` says why it cannot be used,
    empty if it can.
    """

    group: str
    name: str
    package: str
    version: str
    place: str
    problem: str


class PluginGroup(Generic[Plugin]):
    """The plug-ins of one kind: entry points of the group `caliper.<kind>s`.

    `own` are the names that Caliper has itself. `problem_of` gets an entry point and what it points
    to, and says why it is not a plug-in of this kind; empty if it is one.
    """

    def __init__(
        self, kind: str, own: Collection[str], problem_of: Callable[[EntryPoint, Any], str]
    ) -> None:
        self._kind, self._own, self._problem_of = kind, own, problem_of
        self._group = f"caliper.{kind}s"
        self._loaded: dict[str, Plugin | str] = {}

    @cached_property
    def _points(self) -> Mapping[str, list[EntryPoint]]:
        points = defaultdict(list)
        for point in sorted(entry_points(group=self._group), key=_package):
            points[point.name].append(point)
        return dict(sorted(points.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names that packages declare, usable or not, except those of Caliper."""
        return tuple(name for name in self._points if name not in self._own)

    def check_own(self, name: str) -> None:
        """Raise InvalidInput if a package declares a name of Caliper: it would be ambiguous."""
        if name in self._points:
            raise self._unusable(name, self._conflict(name))

    def load(self, name: str) -> Plugin:
        """The plug-in of a name in `names`.

        Raises InvalidInput naming the package of one that cannot be used.
        """
        plugin = self._plugin(name)
        if isinstance(plugin, str):
            raise self._unusable(name, plugin)
        return plugin

    def package(self, name: str) -> str:
        """The package of a plug-in and its version."""
        return _package(self.point(name))

    def label(self, name: str) -> str:
        """The plug-in as people read it, with its package and version."""
        return f"{name} of {self.package(name)}"

    def point(self, name: str) -> EntryPoint:
        """The entry point of a plug-in."""
        return self._points[name][0]

    def declarations(self) -> Iterator[Declaration]:
        """All entry points of the group. Imports those whose names are clear."""
        for name, points in self._points.items():
            plugin = self._plugin(name)
            problem = plugin if isinstance(plugin, str) else ""
            for point in points:
                package, version = (point.dist.name, point.dist.version) if point.dist else ("", "")
                yield Declaration(self._group, name, package, version, point.value, problem)

    def _plugin(self, name: str) -> Plugin | str:
        """The plug-in, or why it cannot be used."""
        if name not in self._loaded:
            self._loaded[name] = self._conflict(name) or self._load(self._points[name][0])
        return self._loaded[name]

    def _conflict(self, name: str) -> str:
        if name in self._own:
            return "Caliper has one of the same name"
        if len(self._points[name]) > 1:
            return "several packages have one of the same name"
        if not re.fullmatch("[a-z][a-z0-9_]*", name):
            return "its name may have small letters, digits and _"
        return ""

    def _load(self, point: EntryPoint) -> Plugin | str:
        try:
            plugin = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a foreign module may raise anything
            return f"it cannot be imported: {error!r}"
        return self._problem_of(point, plugin) or cast("Plugin", plugin)

    def _unusable(self, name: str, problem: str) -> InvalidInput:
        packages = ", ".join(map(_package, self._points[name]))
        return InvalidInput(
            f"the {self._kind} {name!r} of the package {packages} cannot be used: {problem}"
        )


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def no_function(point: EntryPoint, declared: object) -> str:
    """The problem of a plug-in that should be a function or class; empty if it is one."""
    return "" if callable(declared) else f"{point.value} is not a function"


@contextmanager
def blame(plugin: str) -> Iterator[None]:
    """Turn errors that are not Caliper's into FunctionFailed, which names the plug-in."""
    try:
        yield
    except CaliperError:
        raise
    except Exception as error:
        raise FunctionFailed(f"{plugin} raised {error!r:.200}", error) from error
