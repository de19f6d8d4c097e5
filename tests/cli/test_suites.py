"""`caliper suite`, `checkpoint` and `trend`: from a folder of checkpoints to decisions."""

import asyncio
import json
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command, end
from tests.fakes.sources import EXAMPLES
from tests.fakes.suite_folders import RIGHT, RUN, deliver, held, states, suite


def test_from_a_folder_to_decisions_and_a_trend(caliper: Command) -> None:
    folder = caliper.folder
    suite(folder)
    for step, captions in ((300, "careless"), (100, "careless"), (200, "careful")):
        deliver(folder, step, captions)
    ended = caliper(*RUN, code=1)
    events = [line.split("  ")[1:4] for line in ended.out.splitlines()]
    assert events[3:] == [
        ["nightly", "step 100", "started"],
        ["nightly", "step 100", "evaluated"],
        ["nightly", "step 200", "started"],
        ["nightly", "step 200", "passed"],
        ["nightly", "step 300", "started"],
        ["nightly", "step 300", "regressed"],
    ]
    # Whatever is delivered again is answered with what there is.
    assert caliper(*RUN, code=0).out == ""
    added = caliper("checkpoint", "add", "checkpoints/step-200", "--tag", "x", "--json").told
    assert [(each["state"], each["checkpoint"]["tags"]) for each in added] == [("passed", ["x"])]
    assert held(folder) == []
    told = caliper("trend", "nightly", "--csv", "t.csv", "--html", "t.html", "--json", code=0).told
    assert [each["checkpoint"]["step"] for each in told] == [100, 200, 300]
    assert told[2]["baseline"] == told[1]["checkpoint"]["revision"]
    assert "step-300" in caliper("trend", "nightly", code=0).out
    rows = (folder / "t.csv").read_text().splitlines()
    assert sum(",average.f1," in row for row in rows) == 3
    page = (folder / "t.html").read_text()
    charts, others = page.split('id="others"')
    assert charts.count("<circle") == 3
    assert "tasks.OCR.recall" in others
    assert f"caliper compare {told[1]['run']} {told[2]['run']}" in others
    shown = caliper("trend", "nightly", "--figure", "capability.average.f2", code=2).err
    assert "unknown figure" in shown
    (status,) = caliper("suite", "status", "--json", code=0).told
    assert status["checkpoints"] == {"evaluated": 1, "passed": 1, "regressed": 1}
    # The runs are those of `evaluate`: the gate decides alike.
    runs = sorted(path.name for path in (folder / "runs").glob("step-*"))
    assert len(runs) == 3
    caliper("compare", runs[0], runs[1], code=0)


def test_a_paused_suite_only_registers(caliper: Command) -> None:
    suite(caliper.folder)
    caliper("suite", "apply", "suite.yaml", code=0)
    assert caliper("suite", "pause", "nightly", code=0).out == "nightly  paused\n"
    deliver(caliper.folder, 1, "careful")
    caliper(*RUN, code=0)
    assert states(caliper) == {"step-1": "registered"}
    caliper("suite", "resume", "nightly", code=0)
    caliper(*RUN, code=0)
    assert states(caliper) == {"step-1": "evaluated"}
    caliper("suite", "retire", "nightly", code=0)
    assert "resume it first" in caliper(*RUN, code=2).err
    assert "no suite takes checkpoints" in caliper("checkpoint", "add", "suite.yaml", code=2).err


def test_what_cannot_be_evaluated_fails_and_harms_no_other(caliper: Command) -> None:
    suite(caliper.folder)
    path = deliver(caliper.folder, 1, "careful")
    tiny.text(path / "capability" / "scene.jsonl", "{")
    deliver(caliper.folder, 2, "careful")
    assert "scene.jsonl:1" in caliper(*RUN, code=1).out
    assert states(caliper) == {"step-1": "failed", "step-2": "evaluated"}
    caliper("checkpoint", "skip", "step-1", code=0)
    assert "cannot be skipped" in caliper("checkpoint", "skip", "step-2", code=2).err
    entries = (caliper.folder / "runs/.suites/suites/nightly/entries").glob("*/*.json")
    (entry,) = (file for file in entries if '"step-2"' in file.read_text())
    entry.write_text("{")
    assert entry.name in caliper("checkpoint", "list", code=0).err
    assert states(caliper) == {"step-1": "skipped"}
    # It is delivered again, and its run is still there.
    caliper(*RUN, code=0)
    assert states(caliper) == {"step-1": "skipped", "step-2": "evaluated"}


@pytest.mark.parametrize(
    ("part", "more", "place"),
    [
        ({"judge": "tgi:https://judge.test#m@1"}, {}, "judge.test:443"),
        (
            {"captioner": "tgi:{endpoint}#{model}"},
            {"serve": {"endpoint": "https://vllm.test/{name}"}},
            "vllm.test:443",
        ),
        (
            {"captioner": "triton:{endpoint}/{model}"},
            {"serve": {"triton": "https://triton.test:8001/vlm"}},
            "triton.test:8001",
        ),
    ],
)
def test_a_token_that_goes_nowhere_fails_no_checkpoint(
    caliper: Command, part: dict[str, str], more: dict[str, Any], place: str
) -> None:
    data = {"data": str(EXAMPLES / "capability"), "media": str(EXAMPLES / "media")}
    suite(caliper.folder, benchmarks={"capability": {**data, **part}}, **more)
    deliver(caliper.folder, 1, "careful")
    guarded = Command(caliper.folder, {"CALIPER_TOKEN": "sesame-4711"})
    told = guarded(*RUN, code=2).err
    assert f"CALIPER_TOKEN: not sent to {place} unless CALIPER_TOKEN_HOSTS" in told


def test_a_damaged_suite_harms_no_other(caliper: Command) -> None:
    for name in ("broken", "nightly"):
        suite(caliper.folder, name=name)
        caliper("suite", "apply", "suite.yaml", code=0)
    record = caliper.folder / "runs/.suites/suites/broken/suite.json"
    record.write_text("{")
    assert "broken/suite.json" in caliper("suite", "list", code=0).err
    deliver(caliper.folder, 1, "careful")
    caliper("checkpoint", "add", "checkpoints/step-1", code=0)
    assert states(caliper) == {"step-1": "registered"}
    assert "broken/suite.json" in caliper("suite", "run", "broken", "--once", code=2).err
    shown = yaml.safe_load(caliper("checkpoint", "show", "step-1", code=0).out)
    assert shown == caliper("checkpoint", "show", "step-1", "--json", code=0).told
    shown = yaml.safe_load(caliper("suite", "show", "nightly", code=0).out)
    assert shown == caliper("suite", "show", "nightly", "--json", code=0).told


def test_old_runs_are_put_away(caliper: Command) -> None:
    suite(caliper.folder, retention={"keep": 1})
    for step, captions in ((1, "careful"), (2, "careless"), (3, "careless")):
        deliver(caliper.folder, step, captions)
    caliper(*RUN, code=1)
    # The best stays, too.
    runs = sorted(path.name[:6] for path in (caliper.folder / "runs").glob("step-*"))
    assert runs == ["step-1", "step-3"]
    assert len(caliper("trend", "nightly", "--json", code=0).told) == 3


SCENES, STEPS = 12, 3


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder with checkpoints of a few captions each; a suite is to be added."""
    for step in range(STEPS):
        tiny.write_scenes(tmp_path, SCENES, f"A dog runs, step {step}.")
        shutil.move(tmp_path / "captions", tmp_path / "checkpoints" / f"step-{step}")
    return tmp_path


def judged(folder: Path, server: ChatServer) -> None:
    part = {"data": "data", "judge": f"tgi:{server.url}#{fake.MODEL}@{fake.REVISION}"}
    suite(folder, benchmarks={"capability": part}, anchors=False, concurrency=1)


async def reached(server: ChatServer, count: int) -> None:
    """Wait for so many requests."""
    async with asyncio.timeout(PATIENCE):
        await server.until_received(count)


def asked(server: ChatServer) -> Counter[str]:
    return Counter(json.dumps(one.body["messages"]) for one in server.requests)


@pytest.mark.parametrize("received", [SCENES + 3, 2 * SCENES])
async def test_killed_in_the_middle_it_goes_on_and_asks_nothing_twice(
    served: Path, received: int
) -> None:
    async with ChatServer(otherwise=RIGHT) as server:
        judged(served, server)
        process = Command(served).start(*RUN)
        await reached(server, received)
        await asyncio.to_thread(end, process, signal.SIGKILL)
        ended = await asyncio.to_thread(Command(served), *RUN, code=3)
        counts = asked(server)
    assert len(counts) == STEPS * SCENES
    # Verdicts of the last seconds may be lost with the process; replies are not.
    assert sum(counts.values()) <= STEPS * SCENES + 1
    assert set(states(Command(served)).values()) <= {"evaluated", "inconclusive"}
    assert sum("evaluated" in line for line in ended.out.splitlines()) <= 1
    assert held(served) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupted_loop_leaves_no_lease(served: Path, number: signal.Signals) -> None:
    async with ChatServer(otherwise=RIGHT) as server:
        judged(served, server)
        process = Command(served).start(*RUN[:-1])
        await reached(server, SCENES + 3)
        ended = await asyncio.to_thread(end, process, number)
        assert ended.code == 130
        assert "Traceback" not in ended.err
        assert held(served) == []
        assert states(Command(served))["step-1"] == "registered"
        await asyncio.to_thread(Command(served), *RUN, code=3)
    assert sum(asked(server).values()) <= STEPS * SCENES + 1


async def test_an_endpoint_that_is_down_leaves_the_checkpoint_waiting(served: Path) -> None:
    async with ChatServer(otherwise=RIGHT) as server:
        judged(served, server)
    quick = Command(served, {"CALIPER_RETRY_BUDGET": "0.1"})
    ended = await asyncio.to_thread(quick, *RUN, code=4)
    assert "waiting" in ended.out
    assert states(quick) == {"step-0": "waiting", "step-1": "registered", "step-2": "registered"}
    assert "nightly: waiting step-0 (" in quick("suite", "status", code=0).out


async def test_a_server_captions_the_checkpoint_of_a_uri(caliper: Command) -> None:
    folder = caliper.folder
    tiny.write_pictures(folder, 3)
    async with ChatServer(otherwise=fake.answer("A park.")) as server:
        captioner = f"tgi:{server.url}#{{name}}@{{revision}}"
        suite(folder, benchmarks={"capability": {"data": "data", "captioner": captioner}})
        add = ("checkpoint", "add", f"hf://{fake.MODEL}", "--name", fake.MODEL, "--step", 5)

        async def run(*words: object, code: int) -> str:
            return (await asyncio.to_thread(caliper, *words, code=code)).out

        await run("suite", "apply", "suite.yaml", code=0)
        await run(*add, "--revision", fake.REVISION, code=0)
        assert "step 5  evaluated" in await run("suite", "run", "nightly", "--once", code=0)
        assert len(server.requests) == 3
        # The server has another revision than this one.
        await run(*add, "--revision", "other", code=0)
        told = await run("suite", "run", "nightly", "--once", code=1)
    assert "failed" in told
    assert "not other" in told
