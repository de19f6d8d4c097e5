"""Owners: the callers that own runs, captions, suites and names, and who else may see those."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

DEFAULT_TEAM = "default"


@dataclass(frozen=True, slots=True)
class Owner:
    """A caller of the gateway, and its team."""

    name: str
    team: str


@dataclass(frozen=True, slots=True)
class Viewer:
    """A caller, who owns whatever they start or upload. An administrator sees everything."""

    owner: Owner
    is_admin: bool = False


class Sharing(StrEnum):
    """Who may see and change an object: its owners, their teams, or all callers."""

    PRIVATE = "private"
    TEAM = "team"
    ALL = "all"

    def permits(self, owners: Iterable[Owner], viewer: Viewer) -> bool:
        """Whether a viewer may see and change an object of these owners."""
        if viewer.is_admin or self is Sharing.ALL:
            return True
        own = viewer.owner
        if self is Sharing.PRIVATE:
            return own in owners
        return any(each.team == own.team for each in owners)
