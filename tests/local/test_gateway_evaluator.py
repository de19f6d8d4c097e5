"""Checkpoints of suites that an installation evaluates: decided as in a folder of one's own."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import tiny
from tests.fakes.caption_buckets import MemoryBucket
from tests.fakes.chat_server import MODEL, REVISION, ChatServer, answer, status
from tests.fakes.command import Command
from tests.fakes.decided import judge
from tests.fakes.installation import installation
from tests.fakes.opinions import steadfast
from tests.fakes.sources import EXAMPLES
from tests.fakes.suite_folders import RUN, deliver
from tests.fakes.suite_folders import suite as written

from caliper.adapters.media.bounds import DecoderOptions
from caliper.adapters.media.decoders import Decoders
from caliper.adapters.packs.files import shipped_pack
from caliper.adapters.stores.directory import DirectoryStore
from caliper.cli.submission import push_suite
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.entry_states import EntryCause
from caliper.core.errors import BackendUnavailable, InvalidInput, StoreUnavailable
from caliper.core.outcome import Reason
from caliper.core.run import RunState
from caliper.core.spending import Spending
from caliper.core.suites import Suite
from caliper.local.bucket_captions import BucketCaptions
from caliper.local.checkpoint_captioner import CheckpointCaptioner
from caliper.local.checkpoint_requests import CheckpointRequests, CheckpointServing
from caliper.local.gateway_evaluator import GatewayEvaluator
from caliper.local.installation_requests import check_installed
from caliper.local.patient_gateway import PatientGateway
from caliper.local.suite_config import read_suite
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.asking.memory_limit import MemoryLimit
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.claims import EntryClaim
from caliper.pipeline.suites.evaluation import EntryResult
from caliper.pipeline.suites.loop import SuiteLoop
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry
from caliper.pipeline.suites.slots import slot_states
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.hosts import HostRoom, PermittedHosts
from caliper.wiring.models import Access
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings

pytestmark = pytest.mark.rest
CAPTIONS = EXAMPLES / "captions"
SCENES = 100
ACCESS = Access(in_flight=2, retry_budget=0)


@dataclass
class Installed:
    """An installation in this process, and what evaluates its suites."""

    ground: Ground
    evaluator: GatewayEvaluator
    bucket: MemoryBucket
    events: list[tuple[str, str]] = field(default_factory=list)
    note: Callable[[], dict[str, Any]] = dict

    async def applied(self, folder: Path, **more: Any) -> Suite:
        suite = await push_suite(read_suite(written(folder, **more)), self.ground.store)
        await SuiteRegistry(self.ground.store, self.ground.clock).apply(suite)
        return suite

    async def one(
        self, suite: Suite, checkpoint: CheckpointRevision, number: int = 0
    ) -> EntryResult:
        new = CheckpointEntry.new(suite.name, suite.version, checkpoint, "now")
        entry = replace(new, round=number)
        store, clock = self.ground.store, self.ground.clock
        registry, lease = SuiteRegistry(store, clock), Lease(store, clock, "lease")
        claim = EntryClaim(registry, StoredEntry(entry, None), lease)
        self.note = lease.note
        return await self.evaluator.evaluate(suite, claim, BaselineChoice())

    async def decided(self) -> list[CheckpointEntry]:
        """All entries, once a loop has evaluated them."""

        def note(event: Any) -> None:
            self.events.append((event.entry.checkpoint.name, event.event))

        store, clock = self.ground.store, self.ground.clock
        await SuiteLoop(store, clock, self.evaluator, note).run((), once=True)
        stored, _ = await SuiteRegistry(store, clock).entries("nightly")
        return [each.entry for each in stored]


@asynccontextmanager
async def installed(
    folder: Path,
    captioner: CaptionerSettings | None = None,
    examiner: JudgeSettings | None = None,
    served: tuple[str, ...] = (),
) -> AsyncIterator[Installed]:
    ground, bucket = memory_ground(DirectoryStore(folder / "installed")), MemoryBucket()
    comparer = Comparer(ground.store, ground.runs, lambda _: lambda _, __: None)
    captions = BucketCaptions(lambda _: bucket)
    async with installation(ground, examiner, captioner=captioner) as gateway:
        clock, decoders = SystemClock(), Decoders(DecoderOptions(workers=1))
        assert ground.whole is not None
        serving = CheckpointServing(
            ground.whole,
            clock,
            HostRoom(ACCESS, PermittedHosts(served, "", "", "")),
            CheckpointCaptioner(ground, ACCESS, shipped_pack(), decoders, MemoryLimit()),
            print,
        )
        requests = CheckpointRequests(PatientGateway(gateway, clock, print), captions, serving)
        evaluator = GatewayEvaluator(gateway, ground.store, comparer, requests, clock, print)
        yield Installed(ground, evaluator, bucket)
        await decoders.close()
    await comparer.close()


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Installed]:
    async with installed(tmp_path) as found:
        yield found


async def test_decided_as_in_a_folder(there: Installed, tmp_path: Path) -> None:
    folder, caliper = tmp_path, Command(tmp_path)
    suite = await there.applied(folder)
    assert str(EXAMPLES) not in json.dumps(dict(suite.values))
    registry = SuiteRegistry(there.ground.store, there.ground.clock)
    for step, captions in ((300, "careless"), (100, "careless"), (200, "careful")):
        # An installation needs no folder: it is for the other one, which gives the same runs.
        deliver(folder, step, captions)
        checkpoint = there.bucket.deliver(step, CAPTIONS / captions)
        for _ in range(2):
            await registry.register(suite, checkpoint)
    entries = await there.decided()
    assert [str(each.state) for each in entries] == ["evaluated", "passed", "regressed"]
    assert [event for event in there.events if event[1] == "started"] == [
        (f"step-{step}", "started") for step in (100, 200, 300)
    ]
    await asyncio.to_thread(caliper, *RUN, code=1)
    told = (await asyncio.to_thread(caliper, "trend", "nightly", "--json", code=0)).told
    alike = map(CheckpointEntry.from_json, told)
    for installed_one, local in zip(entries, alike, strict=True):
        assert local.run == f"{local.checkpoint.name}-{installed_one.run}"
        assert set(installed_one.figures) == set(local.figures)
        for name in ("version", "state", "is_complete", "findings", "reason", "asked", "calls"):
            assert getattr(installed_one, name) == getattr(local, name), name


async def test_judged_in_sequence_as_in_a_folder(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    steps = {100: 10, 200: 10, 300: 60}
    for step, mistakes in steps.items():
        _write_scene_captions(tmp_path / "checkpoints" / f"step-{step}", step, mistakes)
    more = {"judging": "sequential", "alarms": "suite", "margin": 20.0}
    async with ChatServer(otherwise=judge) as chat:
        settings = JudgeSettings(model=f"tgi:{chat.url}", in_flight=16, anchors=False)
        async with installed(tmp_path, examiner=settings) as there:
            part = {"data": str(tmp_path / "data")}
            suite = await there.applied(tmp_path, benchmarks={"capability": part}, **more)
            registry = SuiteRegistry(there.ground.store, there.ground.clock)
            for step in steps:
                checkpoint = there.bucket.deliver(step, tmp_path / "checkpoints" / f"step-{step}")
                await registry.register(suite, checkpoint)
            entries = await there.decided()
        asked = len(chat.requests)
        assert asked == sum(each.calls for each in entries)
        assert [str(each.state) for each in entries] == ["evaluated", "passed", "regressed"]
        assert all(each.saved > SCENES / 2 for each in entries[1:])
        # 5% of the baseline was judged again, and it is paid for once.
        assert [each.calls - each.asked for each in entries] == [0, SCENES // 20, 0]
        part |= {"judge": f"tgi:{chat.url}"}
        written(tmp_path, benchmarks={"capability": part}, anchors=False, **more)
        caliper = Command(tmp_path)
        await asyncio.to_thread(caliper, *RUN, code=1)
        told = (await asyncio.to_thread(caliper, "trend", "nightly", "--json", code=0)).told
        assert len(chat.requests) == 2 * asked
    for one, fields in zip(entries, told, strict=True):
        local = CheckpointEntry.from_json(fields)
        assert local.run == f"{local.checkpoint.name}-{one.run}"
        for name in ("state", "is_complete", "findings", "reason", "asked", "saved", "calls"):
            assert getattr(one, name) == getattr(local, name), name


def _write_scene_captions(folder: Path, step: int, mistakes: int) -> None:
    rows = (
        {
            "file_id": f"s{number:05}",
            "caption": f"a {'mistake' if is_wrong else 'park'} {step} {number}",
        }
        for number in range(SCENES)
        for is_wrong in (number < mistakes,)
    )
    tiny.lines(folder / "scene.jsonl", rows)


async def test_the_run_of_an_abandoned_checkpoint_is_cancelled(tmp_path: Path) -> None:
    asked, may = asyncio.Event(), asyncio.Event()

    async def slow(server: ChatServer, request: Any, body: Any) -> Any:
        asked.set()
        await may.wait()
        return await steadfast(server, request, body)

    async with ChatServer(otherwise=slow) as chat:
        settings = JudgeSettings(model=f"tgi:{chat.url}", in_flight=16, anchors=False)
        async with installed(tmp_path, examiner=settings) as there:
            suite = await there.applied(tmp_path)
            checkpoint = there.bucket.deliver(1, CAPTIONS / "careful")
            entry = CheckpointEntry.new(suite.name, suite.version, checkpoint, "now")
            evaluation = asyncio.create_task(there.one(suite, checkpoint))
            await asked.wait()
            evaluation.cancel()
            await asyncio.gather(evaluation, return_exceptions=True)
            gateway = there.evaluator.gateway
            (run,) = (await gateway.list()).evaluations
            assert run.state is RunState.RUNNING
            abandonment = asyncio.create_task(there.evaluator.abandon(entry))
            async for update in gateway.watch(run.spec.run_id, 0.1):
                if update.state is RunState.CANCELLING:
                    break
            may.set()
            await abandonment
            assert there.evaluator.spent.calls > 0
            again = await there.one(suite, checkpoint, entry.round + 1)
            assert again.fields["run"] == run.spec.run_id
            paid = there.evaluator.spent
            assert paid.calls > 0
            # Evaluated once more, it asks for nothing, and costs nothing.
            there.evaluator.spent = Spending()
            await there.one(suite, checkpoint, entry.round + 2)
            assert there.evaluator.spent == Spending()
            assert (await gateway.get(run.spec.run_id)).state is RunState.FINISHED


async def test_captions_that_are_not_there(there: Installed, tmp_path: Path) -> None:
    suite = await there.applied(tmp_path)
    checkpoint = there.bucket.deliver(1, CAPTIONS / "careful")
    gone = await there.one(suite, replace(checkpoint, source="s3://models/step-2/"))
    reason = "there are no captions at s3://models/step-2/"
    assert (gone.cause, gone.fields) == (EntryCause.LOSS, {"reason": reason})
    # An object by its ETag that holds other bytes by now.
    key = "step-1/capability/action.jsonl"
    changed = replace(checkpoint, source=f"s3://models/{key}", revision="0" * 32)
    assert (await there.one(suite, changed)).cause is EntryCause.LOSS
    with pytest.raises(InvalidInput, match="expected the captions at s3://BUCKET/KEY"):
        await there.one(suite, replace(checkpoint, source="/checkpoints/step-1"))
    there.bucket.objects[key] = b"no row\n"
    with pytest.raises(InvalidInput, match=r"^s3://models/step-1/capability/action.jsonl:1: "):
        await there.one(suite, checkpoint)
    # It ends no loop: others have their captions elsewhere.
    there.bucket.error = StoreUnavailable("bucket models: AccessDenied")
    with pytest.raises(BackendUnavailable, match="AccessDenied"):
        await there.one(suite, checkpoint)


async def test_a_suite_without_its_data(there: Installed, tmp_path: Path) -> None:
    checkpoint = there.bucket.deliver(1, CAPTIONS / "careful")
    with pytest.raises(InvalidInput, match=r"suite nightly: data: .* apply it again"):
        await there.one(read_suite(written(tmp_path)), checkpoint)
    for values in ({}, {"run": 1}, {"run": {"benchmarks": {"capability": {}}}}):
        with pytest.raises(InvalidInput, match="suite nightly: "):
            await there.one(replace(read_suite(written(tmp_path)), values=values), checkpoint)


async def test_a_captioner_that_serves_another_revision(tmp_path: Path) -> None:
    data = {
        "data": str(EXAMPLES / "captionqa" / "questions.json"),
        "media": str(EXAMPLES / "media"),
    }
    captioned = {"captionqa": {**data, "captioner": MODEL}}
    async with (
        ChatServer() as chat,
        installed(tmp_path, CaptionerSettings(model=f"tgi:{chat.url}")) as there,
    ):
        suite = await there.applied(tmp_path, benchmarks=captioned)
        checkpoint = CheckpointRevision("/checkpoints/1", REVISION, "step-1", 1)
        assert (await there.one(suite, checkpoint)).cause is EntryCause.NO_GATE
        noted = there.note()
        assert noted["done"] == noted["whole"] > 0
        with pytest.raises(InvalidInput, match=r"captioner: the captioner serves .*, not revis"):
            await there.one(suite, replace(checkpoint, revision="other", name="step-2"))
        (other,) = (await there.evaluator.gateway.list(name="step-2")).evaluations
        assert other.state in (RunState.CANCELLING, RunState.CANCELLED)


async def test_each_checkpoint_that_is_served_is_captioned_once_by_its_revision(
    tmp_path: Path,
) -> None:
    """A run that was begun goes on without its server; what had no caption is told."""
    tiny.write_pictures(tmp_path, 3)
    part = {"data": str(tmp_path / "data"), "captioner": "tgi:{endpoint}#{model}@{revision}"}
    async with (
        ChatServer(kind="openai") as chat,
        installed(tmp_path, served=(chat.url,)) as there,
    ):
        serve = {"endpoint": chat.url, "model": MODEL}
        parts = {"capability": part}
        suite = await there.applied(tmp_path, benchmarks=parts, serve=serve, margin=None)
        registry = SuiteRegistry(there.ground.store, there.ground.clock)
        for step in (1, 2):
            checkpoint = CheckpointRevision(f"s3://m/{step}", f"rev{step}", f"step-{step}", step)
            await registry.register(suite, checkpoint)
        chat.from_now_on(answer("A park."))
        gateway = there.evaluator.gateway
        entries = await there.decided()
        assert [str(each.state) for each in entries] == ["evaluated", "evaluated"]
        assert [each.calls for each in entries] == [3, 3]
        assert len(chat.requests) == 6
        (slot,) = await slot_states(there.ground.store)
        assert (slot.served, slot.queue) == ("", ())
        found = (await gateway.get(entries[0].run)).spec.benchmark("capability")
        assert found.captions is not None
        # Its server is not called again.
        await chat.__aexit__()
        again = await there.one(suite, entries[1].checkpoint)
        assert again.fields["run"] == entries[1].run


class _Interrupted:
    """A gateway that a process does not live to call."""

    def __init__(self, gateway: Any) -> None:
        self._gateway = gateway

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gateway, name)

    async def start(self, *_: Any) -> Any:
        raise asyncio.CancelledError


async def test_a_kill_before_the_run_begins_asks_for_no_caption_again(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, 3)
    part = {"data": str(tmp_path / "data"), "captioner": "tgi:{endpoint}#{model}@{revision}"}
    async with (
        ChatServer(kind="openai", otherwise=answer("A park.")) as chat,
        installed(tmp_path, served=(chat.url,)) as there,
    ):
        parts, serve = {"capability": part}, {"endpoint": chat.url, "model": MODEL}
        suite = await there.applied(tmp_path, benchmarks=parts, serve=serve, margin=None)
        checkpoint = CheckpointRevision("s3://m/1", "rev1", "step-1", 1)
        gateway, other = there.evaluator.gateway, there.evaluator
        there.evaluator = replace(other, gateway=_Interrupted(gateway))
        with pytest.raises(asyncio.CancelledError):
            await there.one(suite, checkpoint)
        assert (len(chat.requests), there.evaluator.spent.calls) == (3, 3)
        there.evaluator = other
        result = await there.one(suite, checkpoint)
        assert (result.cause, result.fields["calls"]) == (EntryCause.NO_GATE, 0)
        assert len(chat.requests) == 3


async def test_a_sample_without_a_caption_has_no_score(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, 3)
    part = {"data": str(tmp_path / "data"), "captioner": "tgi:{endpoint}#{model}@{revision}"}
    script = [answer("A park."), answer(""), status(400)]
    async with (
        ChatServer(script, kind="openai") as chat,
        installed(tmp_path, served=(chat.url,)) as there,
    ):
        serve = {"endpoint": chat.url, "model": MODEL}
        suite = await there.applied(tmp_path, benchmarks={"capability": part}, serve=serve)
        checkpoint = CheckpointRevision("s3://m/1", "rev1", "step-1", 1)
        result = await there.one(suite, checkpoint)
        assert result.cause is EntryCause.DOUBT
        assert result.fields["reason"].endswith("; samples without a caption: 1 backend")
        (coverage,) = (
            each.coverage
            for each in (await there.evaluator.gateway.get(result.fields["run"])).benchmarks
        )
        assert (coverage.scored, dict(coverage.unscored)) == (2, {Reason.NO_CAPTION: 1})


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"retention": {"keep": 3}}, "retention"),
        ({"serve": {"command": ["sh"]}}, "serve.command"),
        ({"serve": {"pod": {"spec": {}}, "namespace": "kube-system"}}, "serve.namespace"),
        ({"serve": {"pod": {"spec": {}}, "account": "/"}}, "serve.account"),
        ({"anchors": True}, "anchors"),
        ({"budget": {"month": {"money": 5}}}, "budget.month.money"),
        ({"budget": {"month": {"tokens": 5}}}, "budget.month.tokens"),
        ({"judge": "tgi:http://127.0.0.1:1#m"}, "benchmarks.capability.judge"),
        ({"captioner": "tgi:http://127.0.0.1:1#{name}"}, "benchmarks.capability.captioner"),
        ({"embedder": "minilm:model"}, "benchmarks.capability.embedder"),
    ],
)
def test_what_an_installation_cannot_evaluate(
    tmp_path: Path, more: dict[str, Any], field: str
) -> None:
    part = {"data": str(EXAMPLES / "capability")}
    if field.startswith("benchmarks"):
        more = {"benchmarks": {"capability": {**part, **more}}}
    with pytest.raises(InvalidInput, match="not with --server") as caught:
        check_installed(read_suite(written(tmp_path, **more)))
    assert caught.value.field == field
