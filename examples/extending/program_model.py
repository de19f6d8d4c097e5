"""A custom backend: a program on this machine. docs/add-a-backend.md explains it."""

from __future__ import annotations

import asyncio
import json
import shlex
from asyncio.subprocess import Process
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from caliper.adapters.models.replica import BackendAccess
from caliper.core.errors import (
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
)
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.ports.models import ChatMessage, Completion, Image


def open_program(rest: str, access: BackendAccess) -> ProgramModel:
    """The model of `program:COMMAND#NAME@REVISION`."""
    command, _, model = rest.rpartition("#")
    name, _, revision = model.partition("@")
    if not command or not name:
        raise InvalidInput("expected COMMAND#NAME[@REVISION]", field="program")
    return ProgramModel(shlex.split(command), name, revision, access.timeout)


class ProgramModel:
    """Starts a program for every completion."""

    def __init__(self, command: Sequence[str], name: str, revision: str, seconds: float) -> None:
        self._command = command
        self._seconds = seconds
        self.identity = Identity("program", name, revision, cached=True)
        self._endings: set[asyncio.Task[None]] = set()

    async def resolve(self) -> Identity:
        return self.identity

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        written = [
            {"role": message.role, "content": [_part(part) for part in message.content]}
            for message in messages
        ]
        asked = {"messages": written, "decoding": asdict(decoding)}
        program = await self._start()
        try:
            async with asyncio.timeout(self._seconds):
                reply, _ = await program.communicate(json.dumps(asked).encode())
        except TimeoutError as error:
            raise BackendTimeout(f"no answer within {self._seconds:g} s") from error
        finally:
            # Also when the call is cancelled.
            if program.returncode is None:
                program.kill()
                await program.wait()
        if program.returncode:
            raise BackendUnavailable(f"the program ended with code {program.returncode}")
        return Completion(reply.decode("utf-8", "replace"))

    async def _start(self) -> Process:
        pipe = asyncio.subprocess.PIPE
        start = asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe)
        starting = asyncio.ensure_future(start)
        try:
            return await asyncio.shield(starting)
        except OSError as error:
            raise BackendRejected(f"the program cannot be started: {error.strerror}") from error
        except asyncio.CancelledError:
            ending = asyncio.create_task(_end(starting))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)
            raise

    async def close(self) -> None:
        """Wait for programs whose calls were cancelled."""
        await asyncio.gather(*self._endings)


async def _end(starting: asyncio.Future[Process]) -> None:
    with suppress(OSError):
        program = await starting
        program.kill()
        await program.communicate()


def _part(part: str | Image) -> dict[str, str]:
    if isinstance(part, str):
        return {"text": part}
    return {"picture": b64encode(part.data).decode("ascii"), "mime": part.mime}
