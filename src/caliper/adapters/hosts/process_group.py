"""The processes of a command: another process can find them again, and end them all.

A process is named by its id, the tick at which it started, and the boot of the machine. So none
that got the same id later is mistaken for it. The command leads a session of its own, and all that
it starts belong to it unless they leave it.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.ports.serving import Trace

_PROC = Path("/proc")
_GRACE = 10.0
"""Seconds that processes have to end by themselves."""
_LIMIT = 60.0
"""Seconds after which processes that cannot be killed are left for a later attempt."""


@dataclass(frozen=True, slots=True)
class _Stat:
    pid: int
    session: int
    start: int
    is_dead: bool


def trace_of(pid: int) -> Trace:
    """The trace of a process that leads its session. Raises InvalidInput where there is no /proc
    to find it by.
    """
    stat = _stat(pid)
    if stat is None:
        raise InvalidInput("a command that serves needs Linux: there is no /proc", field="serve")
    return {"kind": "command", "pid": pid, "start": stat.start, "boot": _boot()}


def members(trace: Trace) -> list[int]:
    """The ids of all processes of the trace's session that run."""
    if trace["boot"] != _boot():
        return []
    leader, start = int(trace["pid"]), int(trace["start"])
    now = _stat(leader)
    if now is not None and now.start != start:
        return []
    stats = (_stat(int(entry.name)) for entry in _PROC.iterdir() if entry.name.isdigit())
    ours = (stat for stat in stats if stat and stat.session == leader and stat.start >= start)
    return [stat.pid for stat in ours if not stat.is_dead]


async def end(trace: Trace, grace: float = _GRACE) -> None:
    """End all processes of the session, by force those that do not end in `grace` seconds.

    Raises BackendUnavailable if one cannot be ended.
    """
    loop = asyncio.get_running_loop()
    begin, notified = loop.time(), set[int]()
    while left := await asyncio.to_thread(members, trace):
        elapsed = loop.time() - begin
        if elapsed > grace + _LIMIT:
            raise BackendUnavailable(f"process {left[0]} of a checkpoint's server does not end")
        for pid in left:
            number = signal.SIGKILL if elapsed >= grace else signal.SIGTERM
            if number == signal.SIGKILL or pid not in notified:
                notified.add(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        await asyncio.sleep(0.05)


def _boot() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()


def _stat(pid: int) -> _Stat | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    # The name before the last bracket may hold anything; field 3, the state, comes after it.
    fields = text.rpartition(")")[2].split()
    return _Stat(pid, int(fields[3]), int(fields[19]), fields[0] in "ZX")
