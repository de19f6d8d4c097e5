"""Checkpoints of suites that an installation evaluates: decided as in a folder of one's own."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.fakes import tiny
from tests.fakes.chat_server import MODEL, REVISION, ChatServer
from tests.fakes.command import Command
from tests.fakes.decided_runs import judge
from tests.fakes.installed_suites import (
    SCENES,
    RefusingGateway,
    SuiteInstallation,
    installed,
    write_scene_captions,
)
from tests.fakes.opinions import steadfast
from tests.fakes.sources import EXAMPLES
from tests.fakes.suite_folders import RUN, deliver
from tests.fakes.suite_folders import suite as written

from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.entry_states import EntryCause
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput, StoreUnavailable
from caliper.core.run import RunState
from caliper.core.spending import Spending
from caliper.local.installation_requests import check_installed
from caliper.local.suite_config import read_suite
from caliper.pipeline.store.owners import suite_owners
from caliper.pipeline.store.runs import read_json, write_json
from caliper.pipeline.suites.baselines import BaselineChoice
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings

CAPTIONS = EXAMPLES / "captions"


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[SuiteInstallation]:
    async with installed(tmp_path) as found:
        yield found


async def test_decided_as_in_a_folder(there: SuiteInstallation, tmp_path: Path) -> None:
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


async def test_averages_that_lack_a_task_are_no_figures(
    there: SuiteInstallation, tmp_path: Path
) -> None:
    suite = await there.applied(tmp_path)
    captions = deliver(tmp_path, 100, "careful")
    (captions / "capability" / "OCR.jsonl").unlink()
    result = await there.one(suite, there.bucket.deliver(100, captions))
    paths = {each.path for each in result.fields["figures"]}
    assert not result.fields["is_complete"]
    assert "tasks.scene.f1" in paths
    assert "average.f1" not in paths


async def test_runs_of_a_suite_belong_to_its_owners_too(tmp_path: Path) -> None:
    tokens, ours = tmp_path / "tokens", {"name": "ours", "team": "red"}
    digest = hashlib.sha256(b"secret").hexdigest()
    tokens.write_text(f"suites evaluate {digest} machines\n", "utf-8")
    async with installed(tmp_path, caller=(tokens, SecretStr("secret"))) as there:
        suite = await there.applied(tmp_path)
        await write_json(there.ground.store, suite_owners(suite.name), owners=[ours])
        checkpoint = there.bucket.deliver(100, CAPTIONS / "careful")
        run = (await there.one(suite, checkpoint)).fields["run"]
        (part,) = (await there.evaluator.gateway.get(run)).spec.benchmarks
        for key in (f"runs/{run}/owners.json", f"supplied/{part.captions}.owners.json"):
            found = await read_json(there.ground.store, key)
            assert found is not None, key
            assert found["owners"] == [{"name": "suites", "team": "machines"}, ours]


@pytest.mark.parametrize("first", [10, 90])
async def test_judged_in_sequence_as_in_a_folder(tmp_path: Path, first: int) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    steps = {100: first, 200: 10, 300: 60}
    for step, mistakes in steps.items():
        write_scene_captions(tmp_path / "checkpoints" / f"step-{step}", step, mistakes)
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
        # 5% of the baseline is judged again for each comparison, which pays for it once.
        again, is_better = SCENES // 20, first > steps[200]
        for_base = again + (entries[1].saved if is_better else 0)
        assert [each.calls - each.asked for each in entries] == [0, again, for_base]
        base = entries[1 if is_better else 0]
        assert entries[2].baseline == base.checkpoint.revision
        assert [each.is_complete for each in entries] == [True, is_better, False]
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


async def test_what_is_judged_again_is_paid_once(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    part = {"data": str(tmp_path / "data")}
    async with ChatServer(otherwise=judge) as chat:
        settings = JudgeSettings(model=f"tgi:{chat.url}", in_flight=16, anchors=False)
        async with installed(tmp_path, examiner=settings) as there:
            suite = await there.applied(
                tmp_path, benchmarks={"capability": part}, judging="sequential", margin=20.0
            )
            for step in (100, 200):
                write_scene_captions(tmp_path / "checkpoints" / f"step-{step}", step, 10)
            first, second = (
                there.bucket.deliver(step, tmp_path / "checkpoints" / f"step-{step}")
                for step in (100, 200)
            )
            await SuiteRegistry(there.ground.store, there.ground.clock).register(suite, first)
            (baseline,) = await there.decided()
            choice, other = BaselineChoice(baseline), there.evaluator
            other.spent = Spending()
            there.evaluator = replace(other, gateway=RefusingGateway(other.gateway))
            with pytest.raises(BackendRejected):
                await there.one(suite, second, choice=choice)
            entry = CheckpointEntry.new(suite.name, suite.version, second, "now")
            await there.evaluator.abandon(entry)
            assert there.evaluator.spent.calls == SCENES // 20
            there.evaluator = other
            await there.one(suite, second, 1, choice)
            assert other.spent.calls > 0
            # Once more, everything is known, and paid.
            other.spent = Spending()
            await there.one(suite, second, 2, choice)
            assert other.spent == Spending()


async def test_captions_that_are_not_there(there: SuiteInstallation, tmp_path: Path) -> None:
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


async def test_a_suite_without_its_data(there: SuiteInstallation, tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"serve": {"command": ["sh"]}}, "serve.command"),
        ({"serve": {"pod": {"spec": {}}, "namespace": "kube-system"}}, "serve.namespace"),
        ({"serve": {"pod": {"spec": {}}, "account": "/"}}, "serve.account"),
        ({"anchors": True}, "anchors"),
        ({"budget": {"calls": 5, "month": {"money": 5}}}, "budget.month.money"),
        ({"budget": {"month": {"tokens": 5}}}, "budget.month.tokens"),
        ({"judge": "tgi:http://127.0.0.1:1#m"}, "benchmarks.capability.judge"),
        ({"judge": "chat:http://127.0.0.1:1#m"}, "benchmarks.capability.judge"),
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
        check_installed(read_suite(written(tmp_path, **more), installed=True))
    assert caught.value.field == field
