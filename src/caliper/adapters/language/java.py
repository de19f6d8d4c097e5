"""Programs in Java as processes of their own, which end with the caller."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from caliper.core.errors import InvalidInput

# Java's own default depends on the locale.
_UTF_8 = "-Dfile.encoding=UTF-8"
_TAIL_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class JavaProcess:
    """A running program, from `java_process`. `messages` are its standard error."""

    process: Process
    messages: IO[bytes]

    def last_words(self) -> str:
        """Java's error message after a colon, without the stack trace; empty if there is none."""
        size = self.messages.seek(0, os.SEEK_END)
        self.messages.seek(max(0, size - _TAIL_BYTES))
        text = self.messages.read().decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [
            line
            for line in lines
            if ("rror" in line or "xception" in line) and not line.startswith("at ")
        ]
        return f": {(errors or lines)[-1]}" if lines else ""


def find_jar(jar: Path, expected: str, field: str) -> Path:
    """The whole path of a jar. Raises InvalidInput if there is none."""
    if not jar.is_file():
        raise InvalidInput(f"no such file; expected {expected}", file=str(jar), field=field)
    return jar.absolute()


@asynccontextmanager
async def java_process(
    java: str, words: Sequence[str], *, memory: str, field: str
) -> AsyncIterator[JavaProcess]:
    """Start Java with these words, and end it in any case. `memory` is the most that it may take.

    Raises InvalidInput for `field` if Java cannot be run.
    """
    with tempfile.TemporaryFile() as messages:
        try:
            # Ctrl-C is for this process, which then ends the other.
            process = await asyncio.create_subprocess_exec(
                java,
                f"-Xmx{memory}",
                _UTF_8,
                *words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                start_new_session=True,
            )
        except OSError as error:
            message = f"cannot run {java}: {error.strerror}"
            raise InvalidInput(message, field=field) from error
        try:
            yield JavaProcess(process, messages)
        finally:
            # Not `process.kill`, which may reap the process before asyncio's own watcher.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
