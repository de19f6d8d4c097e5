"""`caliper suite run` with a section `serve`: each checkpoint is served, evaluated and removed."""

import asyncio
import json
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import tiny
from tests.fakes.checkpoint_server import HOST
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command, end
from tests.fakes.processes import is_alive, until

RUN = ("suite", "run", "suite.yaml", "--watch", "checkpoints", "--once")
STEPS = 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with checkpoints; a suite is to be added."""
    tiny.write_pictures(tmp_path, 3)
    for step in range(STEPS):
        tiny.text(tmp_path / "checkpoints" / f"step-{step}" / "weights", str(step))
    return tmp_path


def suite(folder: Path, *trouble: str, name: str = "nightly", **more: Any) -> Path:
    words = [sys.executable, str(HOST), "{port}", "{revision}", str(folder / "processes"), *trouble]
    captioner = "chat:{endpoint}#{model}@{revision}"
    part = {"data": str(folder / "data"), "captioner": captioner}
    values = {
        "name": name,
        "benchmarks": {"capability": part},
        "serve": {"command": words, "slot": "gpu", "start": 30, "silence": 30, **more},
    }
    return tiny.text(folder / f"{name}.yaml", yaml.safe_dump(values))


def processes(folder: Path) -> list[int]:
    """The ids of all processes that served."""
    file = folder / "processes"
    return list(map(int, file.read_text().split())) if file.exists() else []


def assert_empty(folder: Path, commands: int) -> None:
    """Nothing is left of so many commands."""
    served = processes(folder)
    assert len(served) == 2 * commands
    assert not [pid for pid in served if is_alive(pid)]
    (slot,) = (folder / "runs/.suites/slots").iterdir()
    assert json.loads((slot / "record.json").read_text())["trace"] == {}
    assert json.loads((slot / "lease.json").read_text())["holder"] == ""
    assert not list(slot.glob("queue/*.json"))


def listed(caliper: Command) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = caliper("checkpoint", "list", "--json", code=0).told
    return told


def test_each_checkpoint_is_served_evaluated_and_removed(folder: Path) -> None:
    caliper = Command(folder)
    shutil.move(suite(folder), folder / "suite.yaml")
    ended = caliper(*RUN, code=0)
    assert ended.out.count("evaluated") == STEPS
    assert_empty(folder, STEPS)
    entries = listed(caliper)
    for entry in entries:
        # Each run has the captions of its own revision.
        spec = yaml.safe_load((folder / "runs" / entry["run"] / "run.yaml").read_text())
        revision = entry["checkpoint"]["revision"]
        assert f"@{revision}" in json.dumps(spec["config"])
    assert len({entry["run"] for entry in entries}) == STEPS
    (status,) = caliper("suite", "status", "--json", code=0).told
    assert status["slot"]["served"] == ""
    assert "slot gpu." in caliper("suite", "status", code=0).out
    assert caliper(*RUN, code=0).out == ""


@pytest.mark.parametrize(
    ("trouble", "number"),
    [
        ("slow", signal.SIGKILL),
        ("slow", signal.SIGTERM),
        ("waits", signal.SIGKILL),
        ("waits", signal.SIGINT),
    ],
)
async def test_whatever_ends_a_loop_the_next_one_leaves_nothing(
    folder: Path, trouble: str, number: signal.Signals
) -> None:
    """While the server gets ready, and while it captions."""
    shutil.move(suite(folder, trouble), folder / "suite.yaml")
    process = Command(folder).start(*RUN)
    await until(lambda: len(processes(folder)) == 2)
    if trouble == "waits":
        await until((folder / "processes.asked").exists)
    await asyncio.to_thread(end, process, number)
    if number is signal.SIGKILL:
        assert all(map(is_alive, processes(folder)))
    else:
        assert_empty(folder, 1)
    # The server is as it should be now; the suite is the same but for that.
    suite_file = folder / "suite.yaml"
    suite_file.write_text(suite_file.read_text().replace(trouble, "fine"))
    ended = await asyncio.to_thread(Command(folder), *RUN, code=0)
    assert ended.out.count("  evaluated") == STEPS
    assert_empty(folder, 1 + STEPS)


def test_a_checkpoint_that_hangs_its_server_fails(folder: Path) -> None:
    caliper = Command(folder)
    shutil.rmtree(folder / "checkpoints" / "step-1")
    shutil.move(suite(folder, "hangs", silence=1), folder / "suite.yaml")
    caliper(*RUN, code=1)
    (entry,) = listed(caliper)
    assert entry["state"] == "failed"
    told = "no answer to GET /health for 1 seconds: no answer in 1 seconds"
    assert told in entry["reason"]
    assert_empty(folder, 1)


async def test_a_checkpoint_that_vanishes_while_it_captions_is_gone_at_once(folder: Path) -> None:
    checkpoints = folder / "checkpoints"
    shutil.rmtree(checkpoints / "step-1")
    shutil.move(suite(folder, "waits"), folder / "suite.yaml")
    process = Command(folder).start(*RUN)
    await until((folder / "processes.asked").exists)
    assert [file.name for file in checkpoints.glob(".*")] == [".step-0.nightly.caliper-lease"]
    shutil.rmtree(checkpoints / "step-0")
    # Its server would hang for a day.
    out, _ = await asyncio.to_thread(process.communicate, timeout=PATIENCE)
    assert "source-gone" in out
    assert list(checkpoints.iterdir()) == []
    assert_empty(folder, 1)


async def test_two_suites_take_turns_in_a_slot(folder: Path) -> None:
    suite(folder, "waits")
    suite(folder, name="weekly")
    caliper = Command(folder)
    first = caliper.start("suite", "run", "nightly.yaml", "--watch", "checkpoints", "--once")
    await until((folder / "processes.asked").exists)
    second = caliper.start("suite", "run", "weekly.yaml", "--watch", "checkpoints", "--once")
    await until(lambda: any((folder / "runs/.suites/slots").glob("*/queue/*.json")))
    status = await asyncio.to_thread(caliper, "suite", "status", "--json", code=0)
    slot = status.told[0]["slot"]
    assert slot["served"].startswith("nightly step-0 (")
    assert [waiting.partition(" (")[0] for waiting in slot["queue"]] == ["weekly step-0"]
    shown = await asyncio.to_thread(caliper, "suite", "status", code=0)
    assert "; then weekly step-0 (" in shown.out
    # The first is killed; the second removes what it left, and goes on.
    await asyncio.to_thread(end, first, signal.SIGKILL)
    out, err = await asyncio.to_thread(second.communicate, timeout=PATIENCE)
    assert second.returncode == 0, err
    assert out.count("  evaluated") == STEPS
    assert_empty(folder, 1 + STEPS)
