"""What `caliper suite run` tells people, a topic and Prometheus."""

import asyncio
import json
import signal
from contextlib import aclosing, suppress
from pathlib import Path

import aiohttp
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command, Ended, end
from tests.fakes.receivers import SECRET, Receiver
from tests.fakes.suite_folders import RUN, deliver, suite
from tests.servers.process import free_ports

from caliper.adapters.notices.topic import SUITE_EVENTS
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.core.envelopes import Record


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
        (entry,) = (await run("checkpoint", "show", "step-2", "--json", code=0)).told
        happened = [each["event"] for each in entry["timeline"]]
        assert happened[:2] == ["appeared", "registered"]
        assert {"claimed", "run started", "regressed"} < set(happened)
        assert {"event": "notified", "detail": "only: regressed"}.items() <= entry["timeline"][
            -1
        ].items()
        deliveries = [(one["kind"], one["target"], one["attempts"]) for one in entry["deliveries"]]
        assert deliveries[-2:] == [("regressed", "all", 1), ("regressed", "only", 1)]
        assert all(one["delivered"] and not one["error"] for one in entry["deliveries"])
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
