"""Checkpoints that an installation has served: captioned once, then judged without their server."""

from pathlib import Path
from typing import Any

from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer, Step, answer, status
from tests.fakes.installed_suites import SuiteInstallation, installed

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.entry_states import EntryCause, EntryState
from caliper.core.outcome import Reason
from caliper.core.suites import Suite
from caliper.pipeline.store.owners import caption_owners, suite_owners
from caliper.pipeline.store.runs import read_json, write_json
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.pipeline.suites.slots import slot_states


def said(text: str) -> Step:
    """The answer of whichever revision is asked."""

    async def step(server: ChatServer, request: Any, asked: dict[str, Any]) -> Any:
        return await answer(text, model=asked["model"])(server, request, asked)

    return step


async def applied(there: SuiteInstallation, folder: Path, chat: ChatServer, **more: Any) -> Suite:
    """A suite of three samples whose checkpoints that server serves."""
    tiny.write_pictures(folder, 3)
    part = {"data": str(folder / "data"), "captioner": "tgi:{endpoint}#{model}@{revision}"}
    serve = {"endpoint": chat.url}
    more = {"budget": {"tokens": 1_000}, "margin": None, **more}
    return await there.applied(folder, benchmarks={"capability": part}, serve=serve, **more)


def revision(step: int) -> CheckpointRevision:
    return CheckpointRevision(f"s3://m/{step}", f"rev{step}", f"step-{step}", step)


async def test_each_checkpoint_that_is_served_is_captioned_once_by_its_revision(
    tmp_path: Path,
) -> None:
    """A run that was begun goes on without its server."""
    async with (
        ChatServer(kind="openai", models=("rev1", "rev2"), otherwise=said("A park.")) as chat,
        installed(tmp_path, served=(chat.url,), prices={"rev1": (1000.0, 2000.0)}) as there,
    ):
        suite = await applied(there, tmp_path, chat)
        ours = [{"name": "ana", "team": "red"}]
        await write_json(there.ground.store, suite_owners(suite.name), owners=ours)
        registry = SuiteRegistry(there.ground.store, there.ground.clock)
        for step in (1, 2):
            await registry.register(suite, revision(step))
        gateway = there.evaluator.gateway
        entries = await there.decided()
        assert [str(each.state) for each in entries] == ["evaluated", "evaluated"]
        assert [each.calls for each in entries] == [3, 3]
        assert [(each.tokens, each.money) for each in entries] == [(30, 0.039), (30, 0.0)]
        assert len(chat.requests) == 6
        states = [(each.served, each.queue) for each in await slot_states(there.ground.store)]
        assert states == [("", ())] * 2
        found = (await gateway.get(entries[0].run)).spec.benchmark("capability")
        assert found.captions is not None
        owners = await read_json(there.ground.store, caption_owners(found.captions))
        assert owners is not None
        assert owners["owners"] == ours
        # Its server is not called again.
        await chat.__aexit__()
        again = await there.one(suite, entries[1].checkpoint)
        assert again.fields["run"] == entries[1].run


async def test_a_sample_without_a_caption_is_unscored_and_the_coverage_decides(
    tmp_path: Path,
) -> None:
    """As in a run that asks its captioner itself: at the floor it gates, below it does not."""
    script = [said("A park.")] * 5
    checks = [{"benchmark": "capability", "figure": "average.f1", "max_drop": 200.0}]
    async with (
        ChatServer(
            script, kind="openai", models=("rev1", "rev2", "rev3"), otherwise=status(400)
        ) as chat,
        installed(tmp_path, served=(chat.url,)) as there,
    ):
        policy = {"checks": checks, "min_coverage": 0.6}
        more = {"coverage_floor": 0.6, "gate": policy}
        suite = await applied(there, tmp_path, chat, **more)
        registry = SuiteRegistry(there.ground.store, there.ground.clock)
        for step in (1, 2):
            await registry.register(suite, revision(step))
        first, second = await there.decided()
        assert (first.state, first.reason) == (EntryState.EVALUATED, "")
        told = "samples without a caption: 1 of 3 (1 backend)"
        assert (second.state, second.reason) == (EntryState.PASSED, told)
        strict = await applied(there, tmp_path, chat, gate=policy)
        result = await there.one(strict, second.checkpoint)
        assert result.cause is EntryCause.DOUBT
        assert result.fields["reason"].startswith(f"{told}; Incomplete: CAPability: 2 of 3 ")
        for run in (second.run, result.fields["run"]):
            (part,) = (await there.evaluator.gateway.get(run)).benchmarks
            assert (part.coverage.scored, dict(part.coverage.unscored)) == (2, {Reason.BACKEND: 1})
