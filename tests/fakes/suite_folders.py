"""A folder with a suite and its checkpoints, for the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import yaml
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.command import Command
from tests.fakes.sources import EXAMPLES

RIGHT = fake.answer('{"score": 1, "reason": "so says the server"}')


def suite(folder: Path, **more: Any) -> Path:
    data = {"data": str(EXAMPLES / "capability")}
    values = {"name": "nightly", "benchmarks": {"capability": data}, "margin": 1.0, **more}
    return tiny.text(folder / "suite.yaml", yaml.safe_dump(values))


def deliver(folder: Path, step: int, captions: str) -> Path:
    """A checkpoint of its own, whatever others hold."""
    path = folder / "checkpoints" / f"step-{step}"
    shutil.copytree(EXAMPLES / "captions" / captions, path)
    tiny.text(path / "step", str(step))
    return path


def states(caliper: Command) -> dict[str, str]:
    listed = caliper("checkpoint", "list", "--json", code=0).told
    return {each["checkpoint"]["name"]: each["state"] for each in listed}


def held(folder: Path) -> list[str]:
    """The holders of all leases."""
    leases = (folder / "runs" / ".suites").glob("suites/*/leases/*/*.json")
    return [holder for lease in leases if (holder := json.loads(lease.read_text())["holder"])]


RUN = ("suite", "run", "suite.yaml", "--watch", "checkpoints", "--once")
