import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.clock import AheadClock
from tests.fakes.datasets import push_dataset
from tests.fakes.installation import listening, over
from tests.fakes.sources import EXAMPLES

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.cli.exits import Exit
from caliper.cli.options import OutputOptions
from caliper.cli.remote import report_remotely
from caliper.core.envelopes import Message
from caliper.core.errors import AlreadyExists, NotReady
from caliper.core.keys import canonical_json
from caliper.core.messages import PlanJob, RunFailed, event_key
from caliper.core.run import Identity, RunSpec, RunState
from caliper.local.config import RunConfig, read_config
from caliper.local.setup import open_sources
from caliper.local.submission import parcel_of
from caliper.pipeline.planning.publisher import PLAN_JOBS, RUNS
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest
from caliper.pipeline.store.runs import REFUSED
from caliper.pipeline.store.supplies import put_captions
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return memory_ground(DirectoryStore(tmp_path / "store"))


def only(name: str, **changes: Any) -> RunConfig:
    config = read_config(EXAMPLES / "careful.yaml")
    part = config.benchmarks[name].model_copy(update=changes)
    return config.model_copy(update={"benchmarks": {name: part}})


async def asked(ground: Ground, name: str = "captionqa", **changes: Any) -> EvaluationRequest:
    """A request whose data and captions are in the store."""
    part = only(name).benchmarks[name]
    parcel = parcel_of(name, part)
    await push_dataset(ground.store, parcel)
    captions = await put_captions(ground.store, open_sources(name, part).captions or {})
    return EvaluationRequest("ours", (BenchmarkRequest(name, parcel.digest, captions),), **changes)


def serving(
    ground: Ground, judge: str = "lexical", captioner: str | None = None, in_flight: int = 64
) -> Any:
    captioning = None if captioner is None else CaptionerSettings(model=captioner)
    judging = JudgeSettings(model=judge, in_flight=in_flight)
    return all_services(ground, judging, QaReaderSettings(), captioning)


async def test_a_client_key_stands_for_one_spec(ground: Ground) -> None:
    request = await asked(ground, client_key="mine")
    async with listening(await serving(ground)) as address, RemoteGateway(Target(address)) as there:
        first, created = await there.start(request)
        again, once_more = await there.start(request)
        with pytest.raises(AlreadyExists, match=first.spec.run_id):
            await there.start(replace(request, seed=1))
        await over(there, first.spec.run_id)
    assert (first.spec, created, once_more) == (again.spec, True, False)


class Begun(NamedTuple):
    """A run whose judge was asked, and answers once it is released."""

    there: RemoteGateway
    spec: RunSpec
    chat: ChatServer
    released: asyncio.Event


@asynccontextmanager
async def begun_and_held(ground: Ground, request: EvaluationRequest) -> AsyncIterator[Begun]:
    """The run of a request, begun in an installation that ends with it."""
    arrived, released = asyncio.Event(), asyncio.Event()

    async def held(*given: Any) -> Any:
        arrived.set()
        await released.wait()
        return await answer("1")(*given)

    async with ChatServer(otherwise=held) as chat:
        parts = await serving(ground, judge=f"tgi:{chat.url}", in_flight=2)
        async with listening(parts) as address, RemoteGateway(Target(address)) as there:
            begun, _ = await there.start(request)
            await arrived.wait()
            yield Begun(there, begun.spec, chat, released)


async def test_a_cancelled_run_ends_and_can_be_taken_up_again(ground: Ground) -> None:
    clock = AheadClock()
    ground = replace(ground, clock=clock)
    request = await asked(ground, "capability")
    async with begun_and_held(ground, request) as (there, spec, chat, released):
        run = spec.run_id
        assert (await there.cancel(run)).state is RunState.CANCELLING
        clock.ahead += 60
        released.set()
        assert (await over(there, run)).state is RunState.CANCELLED
        asked_before = len(chat.requests)
        again, created = await there.start(request)
        assert not created
        assert again.spec == spec
        ended = await over(there, run)
    assert ended.state in (RunState.COMPLETE, RunState.FINISHED)
    assert 0 < asked_before < len(chat.requests)


async def test_a_failed_run_that_is_started_again_has_not_failed(ground: Ground) -> None:
    request = await asked(ground, "capability")
    async with begun_and_held(ground, request) as (there, spec, _, released):
        event = RunFailed(spec.run_id, "another model")
        message = Message(RUNS, event_key(event), ground.codec.write(event))
        await ground.stream.publish(message)
        failed = await over(there, spec.run_id)
        again, _ = await there.start(request)
        released.set()
        states = [found.state async for found in there.watch(spec.run_id, 0.1)]
    assert (failed.state, failed.error) == (RunState.FAILED, "another model")
    assert again.state is RunState.PLANNING
    assert RunState.FAILED not in states
    assert states[-1] in (RunState.COMPLETE, RunState.FINISHED)


async def test_data_that_cannot_be_planned_fail_the_run(
    ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "questions.json"
    broken.write_text(json.dumps([{"id": "a"}, {"id": "a"}]), "utf-8")
    request = await asked(ground)
    parcel = parcel_of("captionqa", only("captionqa", data=broken).benchmarks["captionqa"])
    await push_dataset(ground.store, parcel)
    request = replace(request, benchmarks=(replace(request.benchmarks[0], data=parcel.digest),))
    async with listening(await serving(ground)) as address, RemoteGateway(Target(address)) as there:
        begun, _ = await there.start(request)
        ended = await over(there, begun.spec.run_id)
        (listed,) = (await there.list()).evaluations
        code = await report_remotely(begun.spec.run_id, address, None, OutputOptions())
        for partial in (False, True):
            with pytest.raises(NotReady, match=f"the run failed: {re.escape(ended.error)}"):
                await there.report(begun.spec.run_id, partial=partial)
    assert code == Exit.NO
    assert f"The run failed: {ended.error}" in capsys.readouterr().err
    assert ended.state is listed.state is RunState.FAILED
    assert ended.error.startswith("captionqa/questions.json")
    assert "caliper-plan-" not in ended.error
    assert await ground.store.get(f"runs/{begun.spec.run_id}/{REFUSED}")


async def test_a_run_of_another_model_fails(ground: Ground) -> None:
    request = await asked(ground)
    async with listening(await serving(ground)) as address, RemoteGateway(Target(address)) as there:
        found, _ = await there.start(request)
        (part,) = found.spec.benchmarks
        models = {**part.models, "reader": Identity("tgi", "another", "1")}
        stranger: RunSpec = replace(
            found.spec, name="theirs", benchmarks=(replace(part, models=models),)
        )
        kept = f"runs/{stranger.run_id}"
        await ground.store.put(f"{kept}/spec.json", canonical_json(stranger.to_json()))
        written = await ground.store.get(f"runs/{found.spec.run_id}/started.json")
        await ground.store.put(f"{kept}/started.json", written or b"")
        job = ground.codec.write(PlanJob(stranger.run_id))
        await ground.stream.publish(Message(PLAN_JOBS, "plan", job))
        ended = await over(there, stranger.run_id)
        whole = await over(there, found.spec.run_id)
    assert ended.state is RunState.FAILED
    assert "another" in ended.error
    assert whole.state is RunState.COMPLETE
