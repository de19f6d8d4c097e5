"""Runs that end once their comparison with a baseline is sure, and the same in one process."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer

from caliper.analysis.gate import Check
from caliper.local.config import RunConfig, check_config
from caliper.local.directory import RunDirectory
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.local.watchers import SilentWatcher
from caliper.pipeline.aggregation.sequential import SequentialPlan
from caliper.wiring.clock import SystemClock
from caliper.wiring.settings import access, decoders

SAMPLES = 240
RIGHT = fake.answer('{"score": 1, "reason": "it says so"}')
WRONG = fake.answer('{"score": -1, "reason": "it says something else"}')


CHECKS = tuple(
    Check("capability", f"tasks.{task}.recall", max_drop=20.0) for task in ("scene", "object_color")
)
"""A check of each task: that of the first is soon sure, if only colors get worse."""

_CAPTION = re.compile(r"a (?:park|mistake) \w+ \d+")


async def judge(
    server: ChatServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Right about every caption that does not say `mistake`."""
    step = WRONG if "mistake" in json.dumps(body) else RIGHT
    return await step(server, request, body)


def checkpoint(
    folder: Path, name: str, mistakes: int, colors: int | None = None, **more: Any
) -> RunConfig:
    """A checkpoint that makes a mistake about so many of a hundred scenes, and about so many of a
    hundred `colors`, if they are asked about.
    """
    if not (folder / "data").exists():
        tiny.write_scenes(folder, SAMPLES)
    captions = folder / name
    _write_captions(captions / "scene.jsonl", name, mistakes, 0)
    if colors is not None:
        ids = (f"s{number:05}" for number in range(SAMPLES, 2 * SAMPLES))
        elements = (tiny.element("object_color", each, {"apple": "red"}) for each in ids)
        tiny.lines(folder / "data" / "object_color.jsonl", elements)
        _write_captions(captions / "object_color.jsonl", name, colors, SAMPLES)
    part = {"data": folder / "data", "captions": captions}
    return check_config({"name": name, "benchmarks": {"capability": part}, **more})


def _write_captions(file: Path, name: str, mistakes: int, first: int) -> None:
    rows = (
        {
            "file_id": f"s{first + number:05}",
            "caption": f"{'a mistake' if number % 100 < mistakes else 'a park'} {name} "
            f"{first + number}",
        }
        for number in range(SAMPLES)
    )
    tiny.lines(file, rows)


async def in_one_process(
    config: RunConfig, url: str, out: Path, plan: SequentialPlan | None = None
) -> RunDirectory:
    """Evaluate in one process, with a judge, until the comparison is sure."""
    ((name, part),), clock = config.benchmarks.items(), SystemClock()
    parts = {name: part.model_copy(update={"judge": f"tgi:{url}"})}
    update = {"benchmarks": parts, "anchors": False, "out": out}
    async with prepare(config.model_copy(update=update), access(4), clock) as found:
        setup = found
        if plan is not None:
            spec = replace(found.spec, judging=plan.digest)
            setup = replace(found, spec=spec, rule_of=plan.rule_of)
        result = await evaluate(setup, SilentWatcher(), clock, decoders())
    return RunDirectory(result.directory)


def shown(server: ChatServer) -> set[str]:
    """The captions that a judge was asked about."""
    return {found for each in server.requests for found in _CAPTION.findall(json.dumps(each.body))}


def shown_by_task(server: ChatServer) -> tuple[int, int]:
    """How many captions of scenes a judge was asked about, and how many of colors."""
    numbers = [int(caption.rpartition(" ")[2]) for caption in shown(server)]
    scenes = sum(number < SAMPLES for number in numbers)
    return scenes, len(numbers) - scenes
