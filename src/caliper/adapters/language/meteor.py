"""METEOR 1.5 as a Java process that answers line by line, as COCO's evaluation code runs it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from caliper.analysis.caption_metrics.measures import (
    CaptionMeasure,
    ReferencedCaption,
    meteor_measure,
)
from caliper.analysis.caption_metrics.meteor import COUNTS
from caliper.analysis.caption_metrics.ngrams import Tokens
from caliper.core.errors import BackendTimeout, InvalidInput

# Java's own default depends on the locale.
_JAVA_OPTIONS = ("-Xmx2G", "-Dfile.encoding=UTF-8")
_OPTIONS = ("-", "-", "-stdio", "-l", "en", "-norm")
_SEPARATOR = "|||"
# The first answer waits for the paraphrases: ten seconds on an idle machine.
_LIMIT = 300.0
_TAIL_BYTES = 4096
_EXCERPT = 100
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class MeteorProcess:
    """A process of METEOR, from `meteor_process`. `messages` are its standard error."""

    process: Process
    jar: Path
    messages: IO[bytes]
    limit: float

    async def measure(self, captions: Mapping[str, ReferencedCaption]) -> CaptionMeasure:
        """METEOR of a set of captions by image.

        Raises InvalidInput if the jar is not METEOR 1.5 or ends, BackendTimeout if it does not
        answer.
        """
        counts = {image: await self._align(caption) for image, caption in captions.items()}
        measure = meteor_measure(counts)
        lines = (" ".join(str(float(count)) for count in one.values()) for one in counts.values())
        answers = await self._ask(("EVAL", *lines), len(counts) + 1)
        wanted = (*measure.by_image.values(), measure.whole.value or 0.0)
        for answer, value in zip(answers, wanted, strict=True):
            with suppress(ValueError):
                if abs(float(answer) - value) < _ROUNDING:
                    continue
            raise self._another(answer)
        return measure

    async def _align(self, caption: ReferencedCaption) -> dict[str, int]:
        texts = map(_text, (*caption.references, caption.caption))
        (answer,) = await self._ask(("SCORE", *texts), 1)
        try:
            counts = [int(count.removesuffix(".0")) for count in answer.split()]
            return dict(zip(COUNTS, counts, strict=True))
        except ValueError as error:
            raise self._another(answer) from error

    async def _ask(self, parts: Iterable[str], answers: int) -> list[str]:
        """Send one line, and read that many."""
        line = f" {_SEPARATOR} ".join(parts).encode("utf-8", "replace") + b"\n"
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018 - opened as pipes
        found: list[bytes] = []
        try:
            async with asyncio.timeout(self.limit):
                with suppress(ConnectionError):
                    stdin.write(line)
                    await stdin.drain()
                while len(found) < answers and (answer := await stdout.readline()):
                    found.append(answer)
        except TimeoutError as error:
            message = f"{self.jar}: no answer of METEOR within {self.limit:g} seconds"
            raise BackendTimeout(message) from error
        except ValueError as error:
            raise self._another("a line without an end") from error
        if len(found) < answers:
            message = f"METEOR ended{self._last_words()}; expected meteor-1.5.jar"
            raise InvalidInput(message, file=str(self.jar), field="--meteor")
        return [answer.decode("utf-8", "replace").strip() for answer in found]

    def _another(self, answer: str) -> InvalidInput:
        message = f"not METEOR 1.5: unexpected answer {answer[:_EXCERPT]!r}"
        return InvalidInput(message, file=str(self.jar), field="--meteor")

    def _last_words(self) -> str:
        """What Java says of an error. Lines after it say where in the code it was."""
        self.messages.seek(0)
        text = self.messages.read(_TAIL_BYTES).decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if "rror" in line or "xception" in line] or lines
        return f": {errors[0]}" if errors else ""


@asynccontextmanager
async def meteor_process(
    java: str, jar: Path, limit: float = _LIMIT
) -> AsyncIterator[MeteorProcess]:
    """Start METEOR, and end it in any case. `limit` is in seconds per answer.

    Raises InvalidInput if there is no such jar, or Java cannot be run.
    """
    words = _words(java, jar)
    with tempfile.TemporaryFile() as messages:
        try:
            # Ctrl-C is for this process, which then ends the other.
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                start_new_session=True,
            )
        except OSError as error:
            message = f"cannot run {java}: {error.strerror}"
            raise InvalidInput(message, field="--meteor") from error
        try:
            yield MeteorProcess(process, jar, messages, limit)
        finally:
            # Not `process.kill`, which may reap the process before asyncio's own watcher.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


def _words(java: str, jar: Path) -> tuple[str, ...]:
    if not jar.is_file():
        raise InvalidInput("no such file; expected meteor-1.5.jar", file=str(jar), field="--meteor")
    return java, *_JAVA_OPTIONS, "-jar", str(jar.absolute()), *_OPTIONS


def _text(tokens: Tokens) -> str:
    """Tokens as a part of a line. They have no white space, but may have the separator."""
    return " ".join(" ".join(tokens).replace(_SEPARATOR, "").split())
