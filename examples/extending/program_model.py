"""A chat model of one's own: a program on this machine. docs/add-a-backend.md explains it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from caliper.core.errors import BackendRejected, BackendTimeout, BackendUnavailable
from caliper.core.question import Decoding
from caliper.core.run import Identity
from caliper.pipeline.asking.request import messages_json
from caliper.ports.models import ChatMessage, Completion


class ProgramModel:
    """Starts a program for every completion."""

    def __init__(self, command: Sequence[str], name: str, revision: str, seconds: float) -> None:
        self._command = command
        self._seconds = seconds
        self.identity = Identity("program", name, revision, cached=True)

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        decoding: Decoding,
        schema: Mapping[str, Any] | None = None,
        affinity: str = "",
    ) -> Completion:
        asked = {"messages": messages_json(messages), "decoding": asdict(decoding)}
        pipe = asyncio.subprocess.PIPE
        try:
            program = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe)
        except OSError as error:
            raise BackendRejected(f"the program cannot be started: {error.strerror}") from error
        try:
            async with asyncio.timeout(self._seconds):
                written, _ = await program.communicate(json.dumps(asked).encode())
        except TimeoutError as error:
            program.kill()
            await program.wait()
            raise BackendTimeout(f"no answer within {self._seconds:g} s") from error
        if program.returncode:
            raise BackendUnavailable(f"the program ended with code {program.returncode}")
        return Completion(written.decode("utf-8", "replace"))

    async def close(self) -> None:
        """Nothing is held open between calls."""
