"""A suite on the real MinIO, Kafka and Triton, and checkpoints that are delivered to it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests.fakes import chat_server as fake
from tests.fakes.announcing_bucket import AnnouncingBucket
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command
from tests.fakes.receivers import SECRET, Receiver
from tests.servers.triton_server import GRADED
from tritonclient.grpc.aio import InferenceServerClient

from bench.thirty.captioner import Quality
from bench.thirty.questions import ColourQuestions, Judge
from bench.thirty.unattended_loop import LoopEvent, UnattendedLoop

MODEL = "graded"
SUITE = "thirty"
PREFIX = "run-7/"
ENDED = frozenset({"passed", "regressed", "decided", "failed", "source-gone"})
"""Kinds of notices after which nothing happens to a checkpoint any more."""
_LOOK_SECONDS = 2
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class RealServers:
    """The real servers. `models` is the folder that Triton has its models from."""

    bucket: AnnouncingBucket
    triton: str
    models: Path


def revision_of(quality: Quality) -> str:
    """The revision of a checkpoint: the ETag of its object."""
    return hashlib.md5(_text(quality).encode(), usedforsecurity=False).hexdigest()


def _text(quality: Quality) -> str:
    return json.dumps(asdict(quality))


def install_model(models: Path, benchmark: ColourQuestions, folder: Path) -> None:
    """Put the captioner among Triton's models, and the questions into `folder`."""
    shutil.copytree(GRADED, models / MODEL, dirs_exist_ok=True)
    shutil.copy(_HERE / "captioner.py", models / MODEL / "1")
    benchmark.write(folder / "data", models / MODEL / "1")


def open_to_all(bucket: AnnouncingBucket) -> None:
    """Let everybody read the bucket: Triton's model has no key."""
    name = bucket.access.bucket
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": ["*"]},
        "Action": ["s3:GetObject"],
        "Resource": [f"arn:aws:s3:::{name}/*"],
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    bucket.client.set_bucket_policy(name, json.dumps(policy))


@dataclass
class SuiteEvaluation:
    """The suite's loop, its judge, its receiver of webhooks, and what was seen of them.

    `told` are the names and kinds of notices with their times, `delivered` the times of objects.
    All times are the event loop's.
    """

    servers: RealServers
    folder: Path
    judge: Judge
    loop: UnattendedLoop
    suite: dict[str, Any]
    events: list[LoopEvent] = field(default_factory=list)
    delivered: dict[str, float] = field(default_factory=dict)
    told: dict[tuple[str, str], float] = field(default_factory=dict)
    on_event: Callable[[LoopEvent], None] = lambda _: None

    def __post_init__(self) -> None:
        self._more = asyncio.Condition()
        self._running: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start the loop."""
        self._running = asyncio.create_task(self.loop.run())

    async def end(self) -> None:
        """Tell the loop to end, and wait until it has."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def apply(self, **serve: Any) -> None:
        """Apply the suite with these keys of its section serve."""
        self.suite["serve"] |= serve
        (self.folder / "suite.yaml").write_text(yaml.safe_dump(self.suite), "utf-8")
        await command(self.folder, "suite", "apply", "suite.yaml")

    async def deliver(self, quality: Quality) -> None:
        """Put a checkpoint into the bucket, perhaps once more."""
        await asyncio.to_thread(self.servers.bucket.put, PREFIX + quality.name, _text(quality))
        self.delivered.setdefault(quality.name, asyncio.get_running_loop().time())

    async def remove(self, quality: Quality) -> None:
        """Remove a checkpoint from the bucket."""
        await asyncio.to_thread(self.servers.bucket.remove, PREFIX + quality.name)

    async def until(self, name: str, kinds: frozenset[str] = ENDED) -> None:
        """Wait until a webhook tells something of a checkpoint."""
        async with self._more:
            await self._more.wait_for(lambda: any((name, kind) in self.told for kind in kinds))

    def note(self, event: LoopEvent) -> None:
        """Take an event of the loop."""
        self.events.append(event)
        if event.event in ("started", "taken over"):
            self.judge.about = event.name
        self.on_event(event)

    async def note_post(self, notice: dict[str, Any]) -> None:
        """Take the data of a webhook."""
        told = (notice["checkpoint"], notice["kind"])
        self.told.setdefault(told, asyncio.get_running_loop().time())
        async with self._more:
            self._more.notify_all()

    async def is_loaded(self) -> bool:
        """Whether the model is loaded in Triton."""
        async with InferenceServerClient(self.servers.triton) as client:
            return bool(await client.is_model_ready(MODEL, client_timeout=_LOOK_SECONDS))


class _Posts(Receiver):
    """A receiver that hands on what it gets."""

    evaluation: SuiteEvaluation | None = None

    async def _post(self, request: Any) -> Any:
        answer = await super()._post(request)
        if self.evaluation is not None:
            await self.evaluation.note_post(self.posted[-1].fields["data"])
        return answer


@asynccontextmanager
async def evaluation(
    servers: RealServers, folder: Path, judge: Judge, suite: dict[str, Any]
) -> AsyncIterator[SuiteEvaluation]:
    """An evaluation whose loop begins when it is told to; `suite` are more of the suite's
    keys.
    """
    async with ChatServer(otherwise=judge.step, keep_requests=False) as chat, _Posts() as posts:
        bucket = servers.bucket
        place = ("--bucket", f"{bucket.access.bucket}/{PREFIX}", "--kafka", bucket.kafka.servers)
        environment = {**bucket.environment, "HOOK": SECRET}
        loop = UnattendedLoop(folder, ("suite.yaml", *place), environment)
        values = _suite(servers, chat.url, posts.url) | suite
        found = SuiteEvaluation(servers, folder, judge, loop, values)
        await found.apply()
        loop.on_event, posts.evaluation = found.note, found
        try:
            yield found
        finally:
            await found.end()


def _suite(servers: RealServers, judge: str, hook: str) -> dict[str, Any]:
    parameters = {
        "store": servers.bucket.access.url,
        "source": "{source}",
        "checkpoint": "{revision}",
    }
    config = {
        "backend": "python",
        "max_batch_size": 16,
        "dynamic_batching": {},
        "input": [
            {"name": "image", "data_type": "TYPE_STRING", "dims": [-1]},
            {"name": "prompt", "data_type": "TYPE_STRING", "dims": [1]},
        ],
        "output": [{"name": "caption", "data_type": "TYPE_STRING", "dims": [1]}],
        "parameters": {name: {"string_value": value} for name, value in parameters.items()},
    }
    part = {
        "data": "data/questions.jsonl",
        "media": "data",
        "captioner": "triton:{endpoint}/{model}#revision={revision}",
        "reader": f"tgi:{judge}#{fake.MODEL}@{fake.REVISION}",
    }
    return {
        "name": SUITE,
        "benchmarks": {"captionqa": part},
        "judging": "sequential",
        "margin": 1.0,
        "step": "step={step}",
        "anchors": False,
        "notify": {"hook": {"url": hook, "secret": "env:HOOK"}},
        "serve": {"triton": f"{servers.triton}/{MODEL}", "config": config},
    }


async def command(folder: Path, *words: str) -> Any:
    """What a command of caliper prints as JSON."""
    ended = await asyncio.to_thread(Command(folder), *words, "--json", code=0)
    return ended.told


def left_behind(folder: Path) -> Sequence[str]:
    """Leases that somebody holds, and what a slot says that it serves."""
    root = folder / "runs" / ".suites"
    leases = [*root.glob("suites/*/leases/*/*.json"), *root.glob("slots/*/lease.json")]
    records = root.glob("slots/*/record.json")
    read = {file: json.loads(file.read_text("utf-8")) for file in (*leases, *records)}
    return [
        str(file.relative_to(root))
        for file, fields in read.items()
        if fields.get("holder") or fields.get("trace")
    ]
