"""Teams' use of the limited resources of an installation:

    teams/running/team-<team>.json                its runs not known to be over
    teams/spent/<day>/team-<team>.<process>.json  the calls and tokens that a process spent for it
    teams/stored/team-<team>.<digest>.<bytes>     its pushes (empty objects)

Digests cover content and place, so that repeated pushes count once. A process writes its total of
a day, so that repeated writes count once.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from caliper.core.errors import InvalidInput, NotFound
from caliper.core.run import FINAL_STATES
from caliper.core.spending import Spending
from caliper.pipeline.store.changes import Fields, change_json
from caliper.pipeline.store.run_record import read_record
from caliper.pipeline.store.runs import read_replaceable, read_spec, run_store, write_json
from caliper.ports.storage import ObjectStore

_BEGINNING = 300.0
"""Seconds within which a started run is stored."""
# No part of a key may begin with a dot, as names of teams may.
_RUNNING, _STORED = "teams/running/team-", "teams/stored/team-"


def _spent(day: str) -> str:
    return f"teams/spent/{day}/team-"


async def running_runs(store: ObjectStore, team: str, now: datetime) -> int:
    """The number of a team's runs that are not over. Raises StoreUnavailable."""
    runs = _runs(await read_replaceable(store, _running(team)))
    return len(runs) - len(await _ended(store, runs, now))


async def take_place(store: ObjectStore, team: str, run: str, most: int, now: datetime) -> bool:
    """Count a run of a team that begins `now`, unless `most` others are not over. Raises
    StoreUnavailable.
    """
    runs_before = _runs(await read_replaceable(store, _running(team)))
    ended = await _ended(store, runs_before, now) - {run}
    has_place = True

    def with_run(fields: Fields) -> Fields:
        nonlocal has_place
        before = _runs(fields)
        runs = {each: at for each, at in before.items() if each not in ended}
        has_place = run in runs or len(runs) < most
        if has_place and run not in runs:
            runs[run] = now.timestamp()
        return fields if runs == before else {**fields, "runs": runs}

    await change_json(store, _running(team), with_run)
    return has_place


def _running(team: str) -> str:
    return f"{_RUNNING}{team}.json"


def _runs(fields: Fields) -> dict[str, float]:
    """The times at which runs took their places, in seconds since 1970."""
    return {str(run): float(at) for run, at in fields.get("runs", {}).items()}


async def _ended(store: ObjectStore, runs: Mapping[str, float], now: datetime) -> set[str]:
    begin = now.timestamp() - _BEGINNING
    return {run for run, at in runs.items() if await _is_over(store, run, is_new=at > begin)}


async def _is_over(store: ObjectStore, run: str, *, is_new: bool) -> bool:
    """Whether a run has ended, or was removed; a new one may not be stored yet."""
    try:
        spec = await read_spec(store, run)
        if spec is None:
            return not is_new
        record = await read_record(run_store(store, run), spec)
    except (InvalidInput, NotFound):
        return True
    if record.started is None:
        # Its start broke off, or goes on.
        return not is_new
    return record.status().state in FINAL_STATES


async def spent_by_process(store: ObjectStore, team: str, day: str) -> dict[str, Spending]:
    """The spending of each process for a team on a day. Raises StoreUnavailable."""
    prefix, spending = f"{_spent(day)}{team}.", dict[str, Spending]()
    async for key in store.list(prefix):
        process = key.removeprefix(prefix).removesuffix(".json")
        # Another team's name may begin with this one's, and a full stop.
        if "." not in process:
            spending[process] = Spending.from_json(await read_replaceable(store, key))
    return spending


async def write_spent(
    store: ObjectStore, team: str, day: str, process: str, spent: Spending
) -> None:
    """Write a process's total for a team on a day. Raises StoreUnavailable or StoreFull."""
    fields = {"calls": spent.calls, "tokens": spent.tokens}
    await write_json(store, f"{_spent(day)}{team}.{process}.json", **fields)


async def stored_bytes(store: ObjectStore, team: str) -> int:
    """The total bytes of a team's pushes. Raises StoreUnavailable."""
    prefix, total = f"{_STORED}{team}.", 0
    async for key in store.list(prefix):
        _, _, size = key.removeprefix(prefix).partition(".")
        # Another team's name may begin with this one's, and a full stop.
        total += int(size) if size.isdecimal() else 0
    return total


async def is_stored(store: ObjectStore, team: str, digest: str, size: int) -> bool:
    """Whether this push of a team is noted. Raises StoreUnavailable."""
    return await store.version(_stored(team, digest, size)) is not None


async def note_stored(store: ObjectStore, team: str, digest: str, size: int) -> None:
    """Note a team's push. Raises StoreUnavailable or StoreFull."""
    await store.put(_stored(team, digest, size), b"")


def _stored(team: str, digest: str, size: int) -> str:
    return f"{_STORED}{team}.{digest}.{size}"


async def teams_of(store: ObjectStore, day: str) -> set[str]:
    """The teams with any use on a day. Raises StoreUnavailable."""
    teams = {key.removeprefix(_RUNNING).removesuffix(".json") async for key in store.list(_RUNNING)}
    for prefix in (_spent(day), _STORED):
        teams |= {key.removeprefix(prefix).rsplit(".", 2)[0] async for key in store.list(prefix)}
    return teams
