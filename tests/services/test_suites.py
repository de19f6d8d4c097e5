"""Checkpoints that the suites of an installation evaluate, on real Kafka and MinIO."""

import asyncio
import io
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
from minio import Minio
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.command import Command
from tests.fakes.opinions import steadfast
from tests.fakes.separate import ENDS_WITHIN, STAGES, Ground, Installation, installation
from tests.fakes.sources import EXAMPLES
from tests.fakes.suite_folders import suite
from tests.servers.access import access_to

from caliper.adapters.notices.topic import SUITE_EVENTS
from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.suites import RemoteSuites
from caliper.adapters.streams.kafka_log import KafkaLog
from caliper.core.checkpoints import CheckpointEntry
from caliper.pipeline.store.runs import read_starts, run_store

CAPTIONS = EXAMPLES / "captions" / "careful" / "capability"
EARLY, BETTER, WORSE = "An early text:", "A better text:", "A worse text:"


async def judge(
    server: ChatServer, request: web.Request, asked: dict[str, Any]
) -> web.StreamResponse:
    """Says that the better captions are right."""
    score = 1 if BETTER in json.dumps(asked["messages"]) else -1
    given = {"score": score, "pred": "N/A", "reason": "so says the server"}
    return await answer(json.dumps(given))(server, request, asked)


@asynccontextmanager
async def evaluating(ground: Ground) -> AsyncIterator[Installation]:
    """An installation with the service that evaluates suites."""
    chats = {kind: ChatServer(otherwise=steadfast) for kind in STAGES}
    chats["judge"] = ChatServer(delay=0.3, otherwise=judge)
    async with installation(ground, chats) as there:
        await there.another("suites", "suites", gateway=f"127.0.0.1:{there.ports['gateway']}")
        yield there


def deliver(bucket: tuple[Minio, str], step: int, text: str) -> str:
    """The source of a checkpoint whose captions all begin with a text."""
    client, name = bucket
    for file in CAPTIONS.iterdir():
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        lines = [json.dumps({**row, "caption": f"{text} {row['caption']}"}) for row in rows]
        data = "\n".join(lines).encode()
        client.put_object(name, f"step-{step}/capability/{file.name}", io.BytesIO(data), len(data))
    return f"s3://{name}/step-{step}"


async def test_each_checkpoint_is_evaluated_once_whoever_is_killed(
    ground: Ground, tmp_path: Path
) -> None:
    access = access_to(ground.minio, f"models-{uuid.uuid4().hex[:8]}")
    data = {"data": str(EXAMPLES / "capability")}
    suite(tmp_path, benchmarks={"capability": data}, budget={"tokens": 10**9})
    async with evaluating(ground) as there:
        server = f"127.0.0.1:{there.ports['gateway']}"
        caliper = Command(
            tmp_path,
            {
                "CALIPER_STORE": access.url,
                "CALIPER_STORE_BUCKET": ground.bucket,
                "CALIPER_STORE_ACCESS_KEY": access.access_key,
                "CALIPER_STORE_SECRET_KEY": access.secret_key,
            },
        )

        async def told(*arguments: Any) -> Any:
            words = (*arguments, "--server", server, "--json")
            return (await asyncio.to_thread(caliper, *words, code=0)).told

        assert (await told("suite", "apply", "suite.yaml"))["new"]
        shown = json.dumps(await told("suite", "show", "nightly"))
        assert str(EXAMPLES) not in shown
        assert str(tmp_path) not in shown
        with access.connections() as pool:
            bucket = access.client(pool), access.bucket
            bucket[0].make_bucket(access.bucket)
            texts = {200: BETTER, 100: EARLY, 300: WORSE}
            sources = {step: deliver(bucket, step, text) for step, text in texts.items()}
        await told("suite", "pause", "nightly")
        for step in (200, 100, 300, 200):
            revision = ("--revision", f"rev-{step}", "--step", step)
            await told("checkpoint", "add", sources[step], *revision)
        await told("suite", "resume", "nightly")
        # In the middle of the first run, and of the second.
        for decided in range(2):
            await _decided(server, decided)
            await there.asked("judge", len(there.chats["judge"].requests) + 5)
            await there.kill("suites")
            await there.again("suites")
        entries = await _decided(server, 3)
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
        asked = [json.dumps(each.body["messages"]) for each in there.chats["judge"].requests]
        assert len(asked) == len(set(asked)) == sum(each.calls for each in entries)
        assert all(each.tokens for each in entries)
        assert [each.crashes for each in entries] == [1, 1, 0]
        kinds = await _announced(ground, "regressed")
        assert kinds.count("started") == 3
        assert {"registered", "decided", "passed"} <= set(kinds)


async def _decided(server: str, count: int) -> list[CheckpointEntry]:
    """All entries, once so many are decided."""
    async with asyncio.timeout(ENDS_WITHIN), RemoteSuites(Target(server)) as remote:
        while True:
            found = (await remote.entries()).entries
            if sum(not each.is_open for each in found) >= count:
                return list(found)
            await asyncio.sleep(0.1)


async def _announced(ground: Ground, last: str) -> list[str]:
    """The kinds of notices in the topic up to one of the last kind."""
    kinds = []
    async with asyncio.timeout(ENDS_WITHIN):
        async for record in KafkaLog(ground.kafka).read(SUITE_EVENTS, {}):
            kinds.append(record.message.headers["type"].rpartition(".")[2])
            if kinds[-1] == last:
                break
    return kinds
