"""`caliper suite`, `checkpoint` and `trend`: from a folder of checkpoints to decisions."""

import asyncio
import json
import shutil
import signal
import subprocess
from collections import Counter
from contextlib import aclosing, closing, suppress
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command, Ended, end
from tests.fakes.installation import listening
from tests.fakes.receivers import SECRET, Receiver
from tests.fakes.sources import EXAMPLES
from tests.servers.process import free_ports

from caliper.adapters.notices.topic import SUITE_EVENTS
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.core.envelopes import Record
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

RIGHT = fake.answer('{"score": 1, "reason": "so says the server"}')


def suite(folder: Path, **more: Any) -> Path:
    data = {"data": str(EXAMPLES / "capability"), "media": str(EXAMPLES / "media")}
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
    assert page.count("<circle") == 3
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


def test_a_source_that_vanished_ends_and_comes_back(caliper: Command) -> None:
    suite(caliper.folder)
    caliper("suite", "apply", "suite.yaml", code=0)
    path = deliver(caliper.folder, 1, "careful")
    caliper("checkpoint", "add", path, code=0)
    shutil.move(path, caliper.folder / "away")
    ended = caliper("suite", "run", "nightly", "--once", code=1)
    assert "source-gone" in ended.out
    assert caliper("suite", "run", "nightly", "--once", code=0).out == ""
    assert states(caliper) == {"step-1": "source-gone"}
    shutil.move(caliper.folder / "away", path)
    caliper("checkpoint", "add", path, code=0)
    caliper("suite", "run", "nightly", "--once", code=0)
    assert states(caliper) == {"step-1": "evaluated"}


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


@pytest.mark.parametrize("received", [1, SCENES + 3, 2 * SCENES])
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
        process: subprocess.Popen[str] = Command(served).start(*RUN[:-1])
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


async def test_an_installation_keeps_suites_for_others(caliper: Command, tmp_path: Path) -> None:
    suite(caliper.folder)
    path = deliver(caliper.folder, 100, "careful")
    parts = await all_services(
        memory_ground(DirectoryStore(tmp_path / "installed")),
        JudgeSettings(),
        QaReaderSettings(),
        None,
    )

    async with listening(parts) as address:
        there = ("--server", address)

        async def told(*arguments: Any, code: int = 0) -> Any:
            ended = await asyncio.to_thread(caliper, *arguments, *there, "--json", code=code)
            return ended.told if code == 0 else ended.err

        assert (await told("suite", "apply", "suite.yaml"))["new"]
        assert [each["suite"] for each in await told("suite", "list")] == ["nightly"]
        (added,) = await told("checkpoint", "add", path)
        assert (added["state"], added["checkpoint"]["source"]) == ("registered", str(path))
        (shown,) = await told("checkpoint", "show", "step-100")
        assert shown["checkpoint"] == added["checkpoint"]
        assert [each["state"] for each in await told("checkpoint", "skip", "step-100")] == [
            "skipped"
        ]
        (status,) = await told("suite", "status")
        assert status["checkpoints"] == {"skipped": 1}
        assert (await told("suite", "pause", "nightly"))["state"] == "paused"
        assert "unknown checkpoint" in await told("checkpoint", "retry", "step-7", code=2)
    # This folder's own registry holds nothing.
    assert caliper("suite", "list", code=0).out == ""


def test_a_loop_listens_to_webhooks(caliper: Command) -> None:
    suite(caliper.folder)
    caliper("suite", "apply", "suite.yaml", code=0)
    caliper("suite", "pause", "nightly", code=0)
    loop = ("suite", "run", "nightly", "--listen", "127.0.0.1:0")
    assert "CALIPER_WEBHOOK_SECRET_" in caliper(*loop, code=2).err
    listener = replace(caliper, environment={"CALIPER_WEBHOOK_SECRET_HUGGINGFACE": "ours"})
    process = listener.start(*loop)
    assert process.stderr is not None
    address = process.stderr.readline().split()[-1]
    repo = {"type": "model", "name": "org/model", "headSha": "c0ffee"}
    payload = {"event": {"action": "update", "scope": "repo.content"}, "repo": repo}

    def delivered(secret: str) -> int:
        headers = {"X-Webhook-Secret": secret}
        data = json.dumps(payload).encode()
        with closing(HTTPConnection(address.split("/")[2])) as connection:
            connection.request("POST", "/webhooks/huggingface", data, headers)
            return connection.getresponse().status

    assert [delivered("guessed"), delivered("ours"), delivered("ours")] == [401, 200, 200]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert states(caliper) == {"org/model main": "registered"}


def everything(folder: Path) -> list[str]:
    return [file.read_text("utf-8", "replace") for file in folder.rglob("*.json")]


async def test_people_are_told(tmp_path: Path) -> None:
    caliper = Command(tmp_path, {"HOOK": SECRET})

    async def run(*words: object, code: int) -> Ended:
        return await asyncio.to_thread(caliper, *words, code=code)

    async with Receiver(refused="/hook/only") as receiver:
        hook = {"url": receiver.url, "secret": "env:HOOK"}
        only = {**hook, "kinds": ["regressed"], "url": receiver.url + "/only"}
        suite(tmp_path, notify={"all": hook, "only": only})
        for step, captions in ((1, "careful"), (2, "careless")):
            deliver(tmp_path, step, captions)
        await run(*RUN, code=1)
        # One was not taken; the command says so, and tells it again.
        told = (await run("suite", "events", "nightly", "--json", code=0)).told
        assert len(told) == 6
        (status,) = (await run("suite", "status", "--json", code=0)).told
        assert status["undelivered"] == 1
        shown = (await run("suite", "events", "nightly", code=0)).out
        assert "answered with status 503 (tried again)" in " ".join(shown.split())
        receiver.refused = ""
        (missed,) = (
            one["notice"]["id"]
            for one in told
            if any(not each["delivered"] for each in one["deliveries"].values())
        )
        await run("suite", "events", "nightly", "--replay", missed[:8], code=0)
        (status,) = (await run("suite", "status", "--json", code=0)).told
        assert status["undelivered"] == 0
        assert (await run("suite", "events", "nightly", "--replay", "x", code=2)).err
        # Nothing is told twice.
        count = len(receiver.posted)
        await run(*RUN, code=0)
        assert len(receiver.posted) == count
    assert {each.notice for each in receiver.posted} == {
        *("step-1 registered", "step-1 started", "step-1 decided"),
        *("step-2 registered", "step-2 started", "step-2 regressed"),
    }
    only_told = {each.notice for each in receiver.posted if each.path == "/hook/only"}
    assert only_told == {"step-2 regressed"}
    written = await asyncio.to_thread(everything, tmp_path)
    assert not any(SECRET in text for text in written)
    unset = await asyncio.to_thread(Command(tmp_path), *RUN, code=2)
    assert "notify.all.secret: HOOK is empty or not set" in unset.err


def test_a_topic_is_told_and_what_a_broker_missed_is_shown(
    tmp_path: Path, kafka: KafkaAccess
) -> None:
    caliper = Command(tmp_path, {"CALIPER_KAFKA_PREFIX": kafka.prefix})
    suite(tmp_path)
    deliver(tmp_path, 1, "careful")
    caliper(*RUN, "--kafka", kafka.servers, code=0)
    caliper(*RUN, "--kafka", kafka.servers, code=0)
    caliper(*RUN, "--kafka", "127.0.0.1:1", code=4)
    told = caliper("suite", "events", "nightly", "--json", code=0).told
    again = told[2]["notice"]["id"]
    replay = ("suite", "events", "nightly", "--replay", again, "--kafka", kafka.servers)
    assert "kafka  delivered" in caliper(*replay, code=0).out
    records = asyncio.run(first_records(kafka, 4))
    assert [json.loads(one.message.value)["data"]["kind"] for one in records] == [
        *("registered", "started", "decided", "decided"),
    ]
    ids = [one.message.headers["id"] for one in records]
    assert ids == [one["notice"]["id"] for one in told] + [again]
    assert {one.message.key for one in records} == {told[0]["notice"]["revision"]}


async def first_records(kafka: KafkaAccess, count: int) -> list[Record]:
    records: list[Record] = []
    async with asyncio.timeout(PATIENCE), aclosing(KafkaLog(kafka).read(SUITE_EVENTS, {})) as log:
        async for record in log:
            records.append(record)
            if len(records) == count:
                break
    return records


async def test_prometheus_gets_the_latest_scores(tmp_path: Path) -> None:
    suite(tmp_path)
    deliver(tmp_path, 100, "careful")
    (port,) = free_ports(1)
    caliper = Command(tmp_path)
    process = caliper.start(*RUN[:-1], "--metrics", f"127.0.0.1:{port}")
    try:
        async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
            text = ""
            while "caliper_suite_step" not in text or "} 100.0" not in text:
                await asyncio.sleep(0.1)
                with suppress(aiohttp.ClientConnectionError):
                    async with session.get(f"http://127.0.0.1:{port}/metrics") as answer:
                        text = await answer.text()
    finally:
        await asyncio.to_thread(end, process, signal.SIGTERM)
    assert 'dimension="average",metric="f1",suite="nightly"' in text
    for wrong in ("x", "127.0.0.1:x"):
        told = await asyncio.to_thread(caliper, *RUN, "--metrics", wrong, code=2)
        assert "--metrics" in told.err
