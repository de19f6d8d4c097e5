"""A suite that asks only until the comparison is sure, in a folder, and its checkpoints."""

import asyncio
import json
from pathlib import Path
from typing import Any

import yaml
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.command import Command, Ended

SAMPLES = 400
FEW = 200
"""Questions where nobody has to be sure early."""
RUN = ("suite", "run", "suite.yaml", "--watch", "checkpoints", "--once")


def deliver(folder: Path, step: int, mistakes: int, kept: int = 0) -> None:
    """A checkpoint of which so many captions in a hundred are a mistake, and the last `kept` are
    those of the first checkpoint.
    """
    rows = (
        {
            "file_id": f"s{number:05}",
            "caption": f"{'a mistake' if number % 100 < mistakes else 'a park'} "
            f"{100 if number % 100 >= 100 - kept else step} {number}",
        }
        for number in range(SAMPLES)
    )
    tiny.lines(folder / "checkpoints" / f"step-{step}" / "scene.jsonl", rows)


def suite(folder: Path, url: str, **more: Any) -> None:
    part = {"data": "data", "judge": f"tgi:{url}"}
    values = {"name": "nightly", "benchmarks": {"capability": part}, "margin": 5.0, **more}
    tiny.text(folder / "suite.yaml", yaml.safe_dump({"judging": "sequential", **values}))


async def run(folder: Path, *words: str, code: int) -> Ended:
    command = Command(folder, {"CALIPER_PRICES": f"{fake.MODEL}=1/2"})
    return await asyncio.to_thread(command, *words, code=code)


async def entries(folder: Path) -> list[Any]:
    told = (await run(folder, "trend", "nightly", "--json", code=0)).out
    found: list[Any] = json.loads(told)
    return found


def f1(entry: Any) -> Any:
    (found,) = (each for each in entry["figures"] if each["is_headline"])
    return found
