"""Owners: the callers to which a run, captions, a suite or a name belongs, and who else sees it."""

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
    """A caller, which owns what it starts or uploads. An administrator sees everything."""

    owner: Owner
    is_admin: bool = False


class Sharing(StrEnum):
    """Who may see and change what has owners: the owners, their teams, or all callers."""

    PRIVATE = "private"
    TEAM = "team"
    ALL = "all"

    def permits(self, owners: Iterable[Owner], viewer: Viewer) -> bool:
        """Whether a viewer may see and change what has these owners."""
        if viewer.is_admin or self is Sharing.ALL:
            return True
        own = viewer.owner
        if self is Sharing.PRIVATE:
            return own in owners
        return any(each.team == own.team for each in owners)
