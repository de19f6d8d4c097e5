"""The owners of runs, uploaded captions, suites and names of datasets, stored beside these.

    runs/<id>/owners.json
    supplied/<digest>.owners.json
    suites/<name>/owners.json
    datasets/<digest>/owners.json
    datasets/names/<name>/<version>.json   the name's object itself

Anyone starting the same run or pushing the same content becomes another owner. Content stored
without owners, by an earlier release or without tokens, belongs to everybody and stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from caliper.core.errors import AlreadyExists, InvalidInput, NotFound
from caliper.core.owners import DEFAULT_TEAM, Owner, Sharing, Viewer
from caliper.core.run import RunSpec
from caliper.pipeline.store.changes import Fields, change_json
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import is_run_id, read_json, read_replaceable
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_ACTING: ContextVar[tuple[Owner, ...]] = ContextVar("acting", default=())


class Ownership:
    """Notes the owners of runs and uploads, and decides who may see them. `viewer` returns the
    present caller; None, as outside of calls and without tokens, owns nothing and sees all.
    """

    def __init__(
        self, viewer: Callable[[], Viewer | None] = lambda: None, sharing: Sharing = Sharing.TEAM
    ) -> None:
        self._viewer, self._sharing = viewer, sharing

    @property
    def team(self) -> str:
        """The team of the present caller, or of the first owner that an administrator acts for:
        nobody else acts at the cost of another team.
        """
        caller = self.caller
        if caller is not None and not self.is_admin:
            return caller.team
        makers = self._makers
        return makers[0].team if makers else DEFAULT_TEAM

    @property
    def is_admin(self) -> bool:
        """Whether the present caller sees everything."""
        viewer = self._viewer()
        return viewer is None or viewer.is_admin

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        """The present caller, or the owners that it acts for; empty outside of calls and without
        tokens.
        """
        if acting := _ACTING.get():
            return tuple(map(Viewer, acting))
        viewer = self._viewer()
        return () if viewer is None else (viewer,)

    @property
    def caller(self) -> Owner | None:
        """The present caller as an owner, if there is one."""
        viewer = self._viewer()
        return None if viewer is None else viewer.owner

    @property
    def sees_all(self) -> bool:
        """Whether the caller may see everything that is owned."""
        viewers = self.viewers
        return not viewers or any(self._sharing.permits((), each) for each in viewers)

    @contextmanager
    def acting_for(self, owners: Sequence[Owner]) -> Iterator[None]:
        """Within the context see only what any of these owners may see; without owners, as the
        caller. Things made belong to the caller and to them.
        """
        token = _ACTING.set(tuple(owners))
        try:
            yield
        finally:
            _ACTING.reset(token)

    async def claim(self, store: ObjectStore, key: str, content: str, taken: str = "") -> None:
        """Add the caller to the owners under `key`, before their `content` is stored. With the
        message `taken`, raises AlreadyExists if the caller may not see the content. Raises
        StoreUnavailable or StoreFull.
        """
        if not self._makers:
            return
        # In this order: who stores content has claimed it before.
        if await store.version(content) is not None and await store.version(key) is None:
            return

        def with_caller(fields: Fields) -> Fields:
            if fields and taken and not self.sees(fields):
                raise AlreadyExists(taken)
            return self.owned(fields)

        await change_json(store, key, with_caller)

    def owned(self, fields: Fields) -> Fields:
        """The fields with the caller among their owners, if there is one."""
        return _with_owners(fields, self._makers)

    @property
    def _makers(self) -> tuple[Owner, ...]:
        """The owners of things that the present caller makes."""
        return (*_ACTING.get(), *filter(None, [self.caller]))

    async def permits_run(self, store: ObjectStore, run: str) -> bool:
        """Whether the caller may see and change a run, if there is one. Raises StoreUnavailable."""
        return not is_run_id(run) or await self.permits(store, run_owners(run))

    async def permits(self, store: ObjectStore, key: str) -> bool:
        """Whether the caller may see and change content with the owners under `key`; if these are
        unreadable, only an administrator may. Raises StoreUnavailable.
        """
        if self.sees_all:
            return True
        try:
            fields = await read_json(store, key)
        except InvalidInput:
            return False
        return fields is None or self.sees(fields)

    def sees(self, fields: Fields) -> bool:
        """Whether the caller may see and change content with the owners in these fields."""
        return self.sees_owners(tuple(_owners(fields)))

    def sees_owners(self, owners: Sequence[Owner]) -> bool:
        """Whether the caller may see and change content with these owners."""
        viewers = self.viewers
        return not viewers or any(self._sharing.permits(owners, each) for each in viewers)


class TeamRuns(RunBook):
    """The runs that the present caller may see; others do not exist. Every use case of the gateway
    reads a run's spec first.
    """

    def __init__(self, store: ObjectStore, clock: Clock, ownership: Ownership) -> None:
        super().__init__(store, clock)
        self._ownership = ownership

    async def spec(self, run: str) -> RunSpec:
        """The spec of a run. Raises what the spec of any `RunBook` raises."""
        if not await self._ownership.permits_run(self._store, run):
            raise NotFound(f"no run {run}")
        return await super().spec(run)


def caption_owners(digest: str) -> str:
    """The key of the owners of uploaded captions."""
    return f"supplied/{digest}.owners.json"


def dataset_owners(digest: str) -> str:
    """The key of the owners of a dataset."""
    return f"datasets/{digest}/owners.json"


def suite_owners(name: str) -> str:
    """The key of the owners of a suite."""
    return f"suites/{name}/owners.json"


async def read_owners(store: ObjectStore, key: str) -> tuple[Owner, ...]:
    """The owners under a key; empty for everybody's content. Raises StoreUnavailable."""
    return tuple(_owners(await read_replaceable(store, key)))


async def first_team(store: ObjectStore, key: str) -> str:
    """The team of the first owner under a key; empty for everybody's content or without a team.
    Raises StoreUnavailable.
    """
    owners = await read_owners(store, key)
    return owners[0].team if owners and owners[0].team != DEFAULT_TEAM else ""


async def share(store: ObjectStore, key: str, source: str) -> None:
    """Add the owners under the key `source` to those under `key`, unless the latter's content
    belongs to everybody. Raises StoreUnavailable or StoreFull.
    """
    owners = await read_owners(store, source)
    if owners and await store.version(key) is not None:
        await change_json(store, key, lambda fields: _with_owners(fields, owners))


def run_owners(run: str) -> str:
    """The key of the owners of a run."""
    return f"runs/{run}/owners.json"


def _owners(fields: Mapping[str, Any]) -> Iterator[Owner]:
    owners = fields.get("owners")
    for each in owners if isinstance(owners, list) else ():
        if isinstance(each, dict):
            yield Owner(str(each.get("name", "")), str(each.get("team", "")))


def _with_owners(fields: Fields, more: Sequence[Owner]) -> Fields:
    before = dict.fromkeys(_owners(fields))
    owners = before | dict.fromkeys(more)
    if owners == before:
        return fields
    return {**fields, "owners": [{"name": each.name, "team": each.team} for each in owners]}
