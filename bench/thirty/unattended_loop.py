"""`caliper suite run` as a process that is killed and started again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_LONGEST_LINE = 2**24


@dataclass(frozen=True, slots=True)
class LoopEvent:
    """A line that the loop printed, at a time of the event loop. `name` is the checkpoint's."""

    at: float
    event: str
    name: str
    detail: str
    entry: Mapping[str, Any]


@dataclass
class UnattendedLoop:
    """The command, in a folder. Whatever ends it, it is started again. `on_event` takes its events
    as they come; what it writes to standard error is in `loop.log`.
    """

    folder: Path
    words: Sequence[str]
    environment: Mapping[str, str]
    on_event: Callable[[LoopEvent], None] = lambda _: None
    kills: int = 0
    failures: list[str] = field(default_factory=list)
    _process: Process | None = None

    async def run(self) -> None:
        """Keep it running until cancelled; then it is told to end."""
        while True:
            killed = self.kills
            with (self.folder / "loop.log").open("ab") as log:
                self._process = process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "caliper.cli", "suite", "run", *self.words, "--json"),
                    cwd=self.folder,
                    env=self._variables(),
                    stdout=PIPE,
                    stderr=log,
                    limit=_LONGEST_LINE,
                )
            try:
                await self._read(process)
            except asyncio.CancelledError:
                with suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()
                raise
            code = await process.wait()
            if self.kills == killed:
                self.failures.append(f"it ended with exit code {code}")
                await asyncio.sleep(1)

    def kill(self) -> None:
        """Kill the process, if one runs."""
        if self._process is not None and self._process.returncode is None:
            self.kills += 1
            self._process.kill()

    def _variables(self) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("CALIPER_")
        }
        return {**inherited, **self.environment}

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        now = asyncio.get_running_loop().time
        async for line in process.stdout:
            # The last one of a killed process may be cut.
            with suppress(ValueError):
                fields = json.loads(line)
                entry = fields["entry"] or {}
                name = entry.get("checkpoint", {}).get("name", "")
                told = LoopEvent(now(), fields["event"], name, fields["detail"], entry)
                self.on_event(told)
