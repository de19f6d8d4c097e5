"""Reads and writes the run objects in the store: specs, starts, refusals and cancellations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from caliper.core.errors import DataLoss, InvalidInput, NotFound
from caliper.core.keys import canonical_json
from caliper.core.quotas import DayQuota
from caliper.core.report import Reuse
from caliper.core.run import SCHEMA, RunSpec, RunState, refuse_newer
from caliper.core.terms import Priority, Terms
from caliper.pipeline.store.store_view import KeyPrefix
from caliper.ports.storage import ObjectStore

SPEC, CANCELLED, STARTED = "spec.json", "cancelled.json", "started.json"
REFUSED, END = "refused.json", "end.json"
_Value = TypeVar("_Value")
_RUN = re.compile(r"[0-9a-f]{16}", re.ASCII)


def is_run_id(text: str) -> bool:
    """Whether `text` is a well-formed run id."""
    return _RUN.fullmatch(text) is not None


def run_store(store: ObjectStore, run: str) -> KeyPrefix:
    """The part of the store that belongs to one run. Raises NotFound for a malformed run id."""
    if not is_run_id(run):
        raise NotFound(f"no run {run!r:.40}")
    return KeyPrefix(store, f"runs/{run}")


async def read_json(store: ObjectStore, key: str) -> dict[str, Any] | None:
    """Read the JSON object under a key; None if the key does not exist.

    Raises NewerSchema, DataLoss if it is not a JSON object with a schema, StoreUnavailable.
    """
    data = await store.get(key)
    if data is None:
        return None
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DataLoss(f"not valid JSON: {error}", file=key) from error
    if not isinstance(fields, dict) or not isinstance(fields.get("schema"), int):
        raise DataLoss("not a JSON object with a schema", file=key)
    refuse_newer(fields["schema"], key)
    if key in (END, CANCELLED):
        _check_end(fields, key)
    return fields


def _check_end(end: Mapping[str, Any], file: str) -> None:
    """Raise DataLoss if no release wrote these fields, on which readers of all runs rely."""
    try:
        RunState(end.get("state", RunState.FAILED))
        int(end.get("start", 0))
        Reuse(**(end.get("reuse") or {}))
        if ended := end.get("ended_at"):
            datetime.fromisoformat(ended)
        for name in ("files", "segment_digests"):
            end.get(name, {}).items()
    except (TypeError, ValueError, AttributeError) as error:
        raise DataLoss(f"not the end of a run: {error}", file=file) from error


async def read_replaceable(store: ObjectStore, key: str) -> dict[str, Any]:
    """The JSON object under a key; empty if there is none, or one that cannot be read and that
    the caller replaces. Raises NewerSchema, StoreUnavailable.
    """
    try:
        return await read_json(store, key) or {}
    except DataLoss:
        return {}


async def write_json(store: ObjectStore, key: str, **fields: Any) -> None:
    """Write fields as a JSON object with a schema. Raises StoreUnavailable or StoreFull."""
    await store.put(key, canonical_json({"schema": SCHEMA, **fields}))


async def read_as(
    store: ObjectStore, key: str, decode: Callable[[dict[str, Any]], _Value]
) -> _Value | None:
    """The decoded JSON object under a key. Returns and raises as `read_json`, and raises DataLoss
    for what `decode` refuses.
    """
    fields = await read_json(store, key)
    try:
        return None if fields is None else decode(fields)
    except InvalidInput as error:
        raise DataLoss(error.message, file=key) from error


async def find_as(
    store: ObjectStore, key: str, decode: Callable[[dict[str, Any]], _Value]
) -> _Value | None:
    """Like `read_as`; None also for what cannot be read, and the caller leaves out or replaces."""
    with suppress(DataLoss):
        return await read_as(store, key, decode)
    return None


async def read_spec(store: ObjectStore, run: str) -> RunSpec | None:
    """The spec of a run; None if it is not stored.

    Raises NotFound for a malformed run id, NewerSchema, DataLoss if the spec is broken or that of
    another run, StoreUnavailable.
    """
    spec = await read_as(run_store(store, run), SPEC, RunSpec.from_json)
    if spec is not None and spec.run_id != run:
        raise DataLoss(f"the spec of run {spec.run_id}, not of {run}", file=SPEC)
    return spec


async def refuse(run: ObjectStore, error: str) -> None:
    """Record why a run cannot be planned, which fails it. `run` is its own part of the store."""
    await write_json(run, REFUSED, error=error)


async def refusal_of(run: ObjectStore) -> str:
    """Why a run could not be planned; empty if it could, or is to be tried again."""
    refusal = await read_json(run, REFUSED)
    return str(refusal.get("error", "")) if refusal else ""


async def forget_refusal(run: ObjectStore) -> None:
    """Clear a refusal, as the run is planned or retried. Writes nothing if there is none."""
    with suppress(DataLoss):
        if not await refusal_of(run):
            return
    await refuse(run, "")


async def replace_unreadable(run: ObjectStore, key: str) -> None:
    """Replace an unreadable mark of a run by an empty one, as the run is started again."""
    try:
        await read_json(run, key)
    except DataLoss:
        await write_json(run, key)


@dataclass(frozen=True, slots=True)
class Starts:
    """How often a run was started, when `first`, and the terms of the last start.

    The `number` is 0 if an earlier release started the run.
    """

    number: int = 0
    first: datetime | None = None
    terms: Terms = field(default_factory=Terms)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Starts:
        """Read started.json. Raises InvalidInput."""
        number, first = fields.get("starts", 0), fields.get("started")
        calls, tokens = fields.get("max_calls"), fields.get("max_tokens")
        for each in (number, calls, tokens):
            if each is not None and type(each) is not int:
                raise InvalidInput(f"these are no starts of a run: {each!r:.40} is not a number")
        priority = fields.get("priority")
        # A newer release may know others.
        rank = Priority(priority) if priority in list(Priority) else Priority.NORMAL
        try:
            when = None if first is None else datetime.fromisoformat(first)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the first start of a run: {error}") from error
        quota = DayQuota.from_json(fields["quota"]) if fields.get("quota") else None
        return cls(number or 0, when, Terms(calls, tokens, rank, quota))


async def read_starts(run: ObjectStore) -> Starts:
    """The starts of a run. `run` is its own part of the store. Raises NewerSchema, DataLoss if
    they cannot be read, StoreUnavailable.
    """
    return await read_as(run, STARTED, Starts.from_json) or Starts()


async def find_starts(run: ObjectStore) -> Starts | None:
    """The starts of a run; None if there are none, or none that can be read and that the caller
    replaces. Raises NewerSchema, StoreUnavailable.
    """
    return await find_as(run, STARTED, Starts.from_json)


async def last_start(run: ObjectStore) -> int:
    """The number of starts of a run; 0 if it cannot be read. Raises StoreUnavailable."""
    try:
        starts = await find_starts(run)
    except InvalidInput:
        return 0
    return starts.number if starts else 0


def is_earlier(start: int, last: int) -> bool:
    """Whether a start, as an aggregator reports it, came before the `last` one."""
    # An aggregator that was down when the first plan was announced reports start 0.
    return max(start, 1) < last


async def is_cancelled(run: ObjectStore) -> bool:
    """Whether a run was cancelled, and not started again since. Raises StoreUnavailable."""
    mark = await read_json(run, CANCELLED) or {}
    return bool(mark.get("cancelled")) and cancels(mark, (await read_starts(run)).number)


async def is_stopped(run: ObjectStore) -> bool:
    """Whether the last start of a run needs no more work: it was cancelled or has failed.

    A run that ended with every outcome still takes jobs: replayed dead letters. Raises
    StoreUnavailable.
    """
    if await is_cancelled(run):
        return True
    end = await read_replaceable(run, END)
    if end.get("state") != RunState.FAILED:
        return False
    return not is_earlier(int(end.get("start", 0)), (await read_starts(run)).number)


def cancels(mark: Mapping[str, Any], start: int) -> bool:
    """Whether the content of cancelled.json cancels this start."""
    # Earlier releases did not record which start they cancelled; the next start cleared the mark.
    return bool(mark.get("cancelled")) and int(mark.get("start", start)) >= start


async def forget_end(run: ObjectStore) -> None:
    """Forget how a run ended, but not which verdicts it had: changed ones would become scores.

    Raises StoreUnavailable or StoreFull.
    """
    if end := await read_replaceable(run, END):
        kept = ("run", "segments", "segment_digests")
        await write_json(run, END, **{name: end[name] for name in kept if name in end})


async def note_cancel(run: ObjectStore) -> None:
    """Record that the last start of a run is cancelled. Raises StoreUnavailable or StoreFull."""
    start = (await read_starts(run)).number
    await write_json(run, CANCELLED, cancelled=True, start=start)


async def note_start(
    run: ObjectStore, terms: Terms, now: datetime, first: datetime | None = None
) -> datetime:
    """Record one more start of a run with its terms, and return the time of its first start.

    The time of the first start stays; `first` is that time if its record was lost. The count of
    starts then goes on from a number that no count reaches. `run` is its own part of the store.
    Raises StoreUnavailable or StoreFull.
    """
    starts = await find_starts(run)
    if starts is None:
        starts = Starts(0 if first is None else int(now.timestamp()), first or now)
    number = starts.number + 1
    began = (starts.first or now).isoformat(timespec="milliseconds")
    limits = {"max_calls": terms.calls, "max_tokens": terms.tokens}
    fields: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    if terms.priority is not Priority.NORMAL:
        fields["priority"] = terms.priority
    if terms.quota is not None:
        fields["quota"] = asdict(terms.quota)
    await write_json(run, STARTED, started=began, starts=number, **fields)
    return datetime.fromisoformat(began)
