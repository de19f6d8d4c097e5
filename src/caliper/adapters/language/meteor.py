"""METEOR 1.5 as a Java process that answers line by line, as COCO's evaluation code runs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.language.java import JavaProcess, find_jar, java_process
from caliper.analysis.caption_metrics.measures import (
    CaptionMeasure,
    ReferencedCaption,
    meteor_measure,
)
from caliper.analysis.caption_metrics.meteor import COUNTS
from caliper.analysis.caption_metrics.ngrams import Tokens
from caliper.core.errors import BackendTimeout, InvalidInput

_FIELD = "--meteor"
_MEMORY = "2G"
_OPTIONS = ("-", "-", "-stdio", "-l", "en", "-norm")
_SEPARATOR = "|||"
# The first answer waits for the paraphrases: ten seconds on an idle machine.
_LIMIT = 300.0
_EXCERPT = 100
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class MeteorProcess:
    """A process of METEOR, from `meteor_process`."""

    program: JavaProcess
    jar: Path
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
        values = (*measure.by_image.values(), measure.whole.value or 0.0)
        for answer, value in zip(answers, values, strict=True):
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
        stdin, stdout = self.program.process.stdin, self.program.process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018 - opened as pipes
        lines: list[bytes] = []
        try:
            async with asyncio.timeout(self.limit):
                with suppress(ConnectionError):
                    stdin.write(line)
                    await stdin.drain()
                while len(lines) < answers and (answer := await stdout.readline()):
                    lines.append(answer)
        except TimeoutError as error:
            message = f"{self.jar}: no answer of METEOR within {self.limit:g} seconds"
            raise BackendTimeout(message) from error
        except ValueError as error:
            raise self._another("a line without an end") from error
        if len(lines) < answers:
            message = f"METEOR ended{self.program.last_words()}; expected meteor-1.5.jar"
            raise InvalidInput(message, file=str(self.jar), field=_FIELD)
        return [answer.decode("utf-8", "replace").strip() for answer in lines]

    def _another(self, answer: str) -> InvalidInput:
        message = f"not METEOR 1.5: unexpected answer {answer[:_EXCERPT]!r}"
        return InvalidInput(message, file=str(self.jar), field=_FIELD)


@asynccontextmanager
async def meteor_process(
    java: str, jar: Path, limit: float = _LIMIT
) -> AsyncIterator[MeteorProcess]:
    """Start METEOR, and end it in any case. `limit` is in seconds per answer.

    Raises InvalidInput if there is no such jar, or Java cannot be run.
    """
    words = ("-jar", str(find_jar(jar, "meteor-1.5.jar", _FIELD)), *_OPTIONS)
    async with java_process(java, words, memory=_MEMORY, field=_FIELD) as program:
        yield MeteorProcess(program, jar, limit)


def _text(tokens: Tokens) -> str:
    """Tokens as a part of a line. They have no white space, but may have the separator."""
    return " ".join(" ".join(tokens).replace(_SEPARATOR, "").split())
