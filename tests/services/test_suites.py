"""Checkpoints that the suites of an installation evaluate, on real Kafka and MinIO."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.fakes.announcing_bucket import AnnouncingBucket, announcing_bucket
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.command import Command
from tests.fakes.opinions import steadfast
from tests.fakes.separate import ENDS_WITHIN, STAGES, Ground, Installation, grounded, installation
from tests.fakes.sources import EXAMPLES
from tests.fakes.suite_folders import suite
from tests.servers.access import variables_of

from caliper.adapters.notices.topic import SUITE_EVENTS
from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.suites import RemoteSuites
from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.core.checkpoints import CheckpointEntry
from caliper.local.notify import TOPIC_NAME
from caliper.pipeline.store.runs import read_starts, run_store

CAPTIONS = EXAMPLES / "captions" / "careful" / "capability"
WORSE_FOLDER = "announced/step-300/"
EARLY, BETTER, WORSE = "An early text:", "A better text:", "A worse text:"


pytestmark = pytest.mark.components("MinIO")


@pytest.fixture
def bucket(kafka: KafkaAccess, tmp_path: Path) -> Iterator[AnnouncingBucket]:
    with announcing_bucket(kafka, tmp_path / "minio") as found:
        yield found


@pytest.fixture
def ground(kafka: KafkaAccess, bucket: AnnouncingBucket, tmp_path: Path) -> Ground:
    """On the MinIO that announces, since checkpoints are in buckets of the store's."""
    access = bucket.access
    secrets = f"{access.access_key}:{access.secret_key}"
    return grounded(kafka, access.url.replace("://", f"://{secrets}@"), tmp_path)


class PatientJudge:
    """A step of a ChatServer: says that the better captions are right, once it may."""

    def __init__(self) -> None:
        self.asked, self.may = (
            {text: asyncio.Event() for text in (EARLY, BETTER)} for _ in range(2)
        )

    async def __call__(
        self, server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        prompt = json.dumps(asked["messages"])
        for text, event in self.asked.items():
            if text in prompt:
                event.set()
                await self.may[text].wait()
        score = 1 if BETTER in prompt else -1
        given = {"score": score, "pred": "N/A", "reason": "so says the server"}
        return await answer(json.dumps(given))(server, request, asked)


@asynccontextmanager
async def evaluating(
    ground: Ground, bucket: str, judge: PatientJudge
) -> AsyncIterator[Installation]:
    """An installation with the service that evaluates suites, to which a bucket is announced."""
    chats = {kind: ChatServer(otherwise=steadfast) for kind in STAGES}
    chats["judge"] = ChatServer(otherwise=judge)
    async with installation(ground, chats) as there:
        gateway = f"127.0.0.1:{there.ports['gateway']}"
        place = {"bucket": f"{bucket}/announced/", "objects": "manifest.json"}
        await there.another("suites", "suites", gateway=gateway, **place)
        yield there


def deliver(bucket: AnnouncingBucket, folder: str, text: str) -> None:
    """A checkpoint whose captions all begin with a text."""
    for file in CAPTIONS.iterdir():
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        lines = [json.dumps({**row, "caption": f"{text} {row['caption']}"}) for row in rows]
        bucket.put(f"{folder}capability/{file.name}", "\n".join(lines))


async def test_each_checkpoint_is_evaluated_once_whoever_is_killed(
    ground: Ground, bucket: AnnouncingBucket, tmp_path: Path
) -> None:
    access = bucket.access
    data = {"data": str(EXAMPLES / "capability")}
    suite(tmp_path, benchmarks={"capability": data}, budget={"tokens": 10**9})
    judge = PatientJudge()
    async with evaluating(ground, access.bucket, judge) as there:
        server = f"127.0.0.1:{there.ports['gateway']}"
        caliper = Command(tmp_path, variables_of(access, ground.bucket))

        async def told(*arguments: Any) -> Any:
            words = (*arguments, "--server", server, "--json")
            return (await asyncio.to_thread(caliper, *words, code=0)).told

        assert (await told("suite", "apply", "suite.yaml"))["new"]
        shown = json.dumps(await told("suite", "show", "nightly"))
        assert str(EXAMPLES) not in shown
        assert str(tmp_path) not in shown
        for folder, text in (("200/", BETTER), ("100/", EARLY), (WORSE_FOLDER, WORSE)):
            deliver(bucket, folder, text)
        await told("suite", "pause", "nightly")
        for step in (200, 100, 200):
            revision = ("--revision", f"rev-{step}", "--step", step)
            await told("checkpoint", "add", f"s3://{access.bucket}/{step}", *revision)
        # MinIO announces both; the service reads that.
        for _ in range(2):
            manifest = {"revision": "rev-300", "name": "step-300"}
            bucket.put(f"{WORSE_FOLDER}manifest.json", json.dumps(manifest))
        await _until(server, lambda found: len(found) == 3)
        await told("suite", "resume", "nightly")
        # In the middle of the first run, and of the second.
        for text, asked in judge.asked.items():
            async with asyncio.timeout(ENDS_WITHIN):
                await asked.wait()
            await there.kill("suites")
            await there.again("suites")
            judge.may[text].set()
        entries = await _until(server, lambda found: not any(each.is_open for each in found))
        listed = await told("checkpoint", "list")
        assert [(each["checkpoint"]["step"], each["state"]) for each in listed] == [
            (100, "evaluated"),
            (200, "passed"),
            (300, "regressed"),
        ]
        # Begun once each, and no question was asked twice.
        runs = (await there.gateway.list()).evaluations
        assert {each.spec.run_id for each in runs} == {each.run for each in entries}
        starts = [await read_starts(run_store(there.store, each.run)) for each in entries]
        assert [each.number for each in starts] == [1, 1, 1]
        prompts = [json.dumps(each.body["messages"]) for each in there.chats["judge"].requests]
        assert len(prompts) == len(set(prompts)) == sum(each.calls for each in entries)
        assert all(each.tokens for each in entries)
        assert [each.crashes for each in entries] == [1, 1, 0]
        kinds = await _announced(ground, "regressed")
        assert kinds.count("started") == 3
        assert {"registered", "decided", "passed"} <= set(kinds)
        (status,) = await told("suite", "status")
        assert status["month"]["spent"]["calls"] >= len(prompts)
        (entry,) = await told("checkpoint", "show", "step-300")
        deliveries = {(each["kind"], each["target"]) for each in entry["deliveries"]}
        assert ("regressed", TOPIC_NAME) in deliveries


async def _until(
    server: str, holds: Callable[[Sequence[CheckpointEntry]], bool]
) -> list[CheckpointEntry]:
    async with asyncio.timeout(ENDS_WITHIN), RemoteSuites(Target(server)) as remote:
        while not holds(found := (await remote.entries()).entries):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    return list(found)


async def _announced(ground: Ground, last: str) -> list[str]:
    """The kinds of notices in the topic up to one of the last kind."""
    kinds = []
    async with asyncio.timeout(ENDS_WITHIN):
        async for record in KafkaLog(ground.kafka).read(SUITE_EVENTS, {}):
            kinds.append(record.message.headers["type"].rpartition(".")[2])
            if kinds[-1] == last:
                break
    return kinds
