"""Serves a checkpoint by a command of one machine, which may be Slurm's `srun`."""

from __future__ import annotations

import asyncio
import os
import socket
from asyncio.subprocess import Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.hosts import process_group
from caliper.adapters.hosts.probe import LOOK_SECONDS, status_of, until_ready, until_silent
from caliper.adapters.hosts.template import checkpoint_fields, fill
from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput
from caliper.ports.serving import CheckpointEndpoint, Note

# The command starts once its trace is stored: if we die before, the pipe ends, and the shell too.
_GATE = 'read -r go && exec "$@" </dev/null'
_TAIL_BYTES, _TAIL_LINES = 4096, 5
_REAPED_WITHIN = 5.0


@dataclass(frozen=True, slots=True)
class CommandPlan:
    """Templates of a command's words, of the URL at which it serves, and of the model's name there.

    It is ready when GET of the path `health` is answered with 200. `start` is how many seconds that
    may take, `silence` how many without such an answer mean that it hangs.
    """

    words: Sequence[str]
    url: str
    health: str
    model: str
    start: float
    silence: float


class CommandServer:
    """ports.serving.CheckpointServer. `log` is the file of the command's output."""

    def __init__(self, plan: CommandPlan, log: Path) -> None:
        self._plan, self._log = plan, log
        self._process: Process | None = None
        self._health = ""

    async def start(self, checkpoint: CheckpointRevision, note: Note) -> CheckpointEndpoint:
        plan, fields = self._plan, checkpoint_fields(checkpoint) | {"port": str(_free_port())}
        words, url, model = fill([list(plan.words), plan.url, plan.model], fields)
        self._health = f"{url}{plan.health}"
        if not await status_of(self._health, min(LOOK_SECONDS, plan.silence)):
            # It would caption in the name of this checkpoint.
            raise BackendUnavailable(f"another server answers at {url} already")
        self._process = process = await self._spawn(words)
        assert process.stdin is not None  # noqa: S101 - it was opened as a pipe
        try:
            await note(process_group.trace_of(process.pid))
            process.stdin.write(b"go\n")
        finally:
            process.stdin.close()
        problem = await until_ready(self._look, plan.start)
        if problem:
            message = f"not ready within {plan.start:,g} seconds: GET {plan.health}: {problem}"
            raise BackendRejected(message + await self.last_words())
        return CheckpointEndpoint(url, model)

    async def watch(self) -> None:
        problem = await until_silent(self._look, self._plan.silence)
        silence = f"no answer to GET {self._plan.health} for {self._plan.silence:,g} seconds"
        raise BackendRejected(f"{silence}: {problem}" + await self.last_words())

    async def last_words(self) -> str:
        return await asyncio.to_thread(self._tail)

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _REAPED_WITHIN)

    async def _look(self) -> str:
        """Look at the health. Raises BackendRejected if the command has ended."""
        problem = await status_of(self._health, min(LOOK_SECONDS, self._plan.silence))
        process = self._process
        if process is not None and process.returncode is not None:
            message = f"the command ended with exit code {process.returncode}"
            raise BackendRejected(message + await self.last_words())
        return problem

    async def _spawn(self, words: Sequence[str]) -> Process:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        output = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            return await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", _GATE, "sh", *words),
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise InvalidInput(f"cannot run it: {error.strerror}", field="serve.command") from error
        finally:
            os.close(output)

    def _tail(self) -> str:
        with suppress(OSError), self._log.open("rb") as file:
            file.seek(max(0, self._log.stat().st_size - _TAIL_BYTES))
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
            if last := [line for line in lines if line][-_TAIL_LINES:]:
                return f"; its output ends: {' | '.join(last)}"
        return ""


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
