"""Measures a whole `caliper evaluate` process against a stub endpoint, compared to a process that
posts the same bodies with plain aiohttp.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.posts import plain, stub
from bench.synthetic import write_capability, write_captionqa

IN_FLIGHT = 256
DELAY_SECONDS = 0.25
QUESTIONS = 10_000
A_SAMPLE = 10
"""Questions per sample of CaptionQA."""
ROUNDS = 3
FIRST_CALL_AIM = 1.5
"""The largest acceptable time to the first call beyond importing the HTTP client, in seconds."""
_CLIENT = ("-c", "import aiohttp, httpx2; from huggingface_hub import AsyncInferenceClient")


@dataclass(frozen=True, slots=True)
class Kind:
    """A benchmark, the stub's reply, the share of plain aiohttp's rate to reach, and the function
    that writes its files.
    """

    benchmark: str
    role: str
    text: str
    aim: float
    write: Callable[[Path, int], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Durations:
    """Wall and CPU seconds; for callers of the stub also the seconds before the first call and
    after the last reply.
    """

    seconds: float
    cpu: float
    before: float = 0.0
    after: float = 0.0


def _captionqa(folder: Path, questions: int) -> tuple[str, str]:
    write_captionqa(folder, questions // A_SAMPLE, A_SAMPLE)
    return "data.jsonl", "captions.json"


def _capability(folder: Path, questions: int) -> tuple[str, str]:
    write_capability(folder, questions)
    return "data", "captions"


KINDS = (
    Kind("captionqa", "reader", "A", 0.8, _captionqa),
    Kind(
        "capability",
        "judge",
        '{"score": 1, "pred": ["realistic"], "reason": "r"}',
        0.65,
        _capability,
    ),
)


def process(arguments: tuple[str, ...]) -> tuple[float, Durations]:
    """Run a Python process; returns its start time and what it took."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    end, after = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return start, Durations(end - start, cpu)


def evaluation(kind: Kind, folder: Path, questions: int, bodies: Path) -> tuple[Durations, int]:
    """Run in an empty folder, without stored replies; also returns the number of calls. Writes what
    it posts to `bodies`.
    """
    data, captions = (folder / each for each in kind.write(folder, questions))
    with stub(kind.text, DELAY_SECONDS, bodies) as calls:
        start, took = process(
            (
                *("-m", "caliper.cli", "evaluate", kind.benchmark, "--concurrency", str(IN_FLIGHT)),
                *("--data", str(data), "--captions", str(captions), "--out", str(folder / "run")),
                *(f"--{kind.role}", f"tgi:{calls.url}"),
            )
        )
    end = start + took.seconds
    return Durations(took.seconds, took.cpu, calls.first - start, end - calls.last), calls.count


def peer(kind: Kind, bodies: Path, rewritten: Path) -> Durations:
    """Post those bodies with plain aiohttp."""
    with stub(kind.text, DELAY_SECONDS, rewritten) as calls:
        return process(plain(calls.url, bodies, IN_FLIGHT))[1]


def measure(kind: Kind, root: Path, questions: int, rounds: int) -> None:
    """Run both alternately, and print the figures."""
    ours, peers, clients, count = [], [], [], 0
    for number in range(rounds):
        took, count = evaluation(kind, root / f"{number}", questions, root / "bodies")
        ours.append(took)
        peers.append(peer(kind, root / "bodies", root / "rewritten"))
        clients.append(process(_CLIENT)[1])
    own, other, client = map(_median, (ours, peers, clients))
    print(
        f"endpoint_run: {kind.benchmark}, {count:,} calls: {own.seconds:.1f} s, plain aiohttp "
        f"{other.seconds:.1f} s: {other.seconds / own.seconds:.2f} of its rate (aim {kind.aim:g}); "
        f"CPU {own.cpu:.1f} s, {other.cpu:.1f} s"
    )
    print(
        f"  first call after {own.before:.2f} s, {own.before - client.seconds:.2f} s beyond "
        f"importing the HTTP client (aim {FIRST_CALL_AIM:g}); exit {own.after:.2f} s after "
        "the last reply"
    )
    print(f"  machine load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _median(rounds: Sequence[Durations]) -> Durations:
    columns = zip(*map(astuple, rounds), strict=True)
    return Durations(*map(statistics.median, columns))


def main() -> None:
    """Measure CaptionQA and CAPability."""
    for kind in KINDS:
        with TemporaryDirectory() as folder:
            measure(kind, Path(folder), QUESTIONS, ROUNDS)


if __name__ == "__main__":
    main()
