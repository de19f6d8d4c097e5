"""Runs that an installation ends once their comparison with a baseline is sure."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import yaml
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import FastClock
from tests.fakes.command import Command
from tests.fakes.decided_runs import CHECKS, checkpoint, in_one_process, judge, shown, shown_by_task
from tests.fakes.installation import listening, over

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.analysis.gate import Decision, Policy
from caliper.core.run import RunState
from caliper.local.baseline_runs import SHARE, place_again
from caliper.local.submission import send
from caliper.pipeline.aggregation.look_findings import decision_of
from caliper.pipeline.aggregation.sequential import SequentialPlan
from caliper.wiring.grounds import memory_ground
from caliper.wiring.models import ModelRoom
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services


async def test_report_calls_and_gate_are_those_of_one_process(tmp_path: Path) -> None:
    alone, store = tmp_path / "alone", DirectoryStore(tmp_path / "store")
    base = checkpoint(tmp_path, "base", 10, colors=10)
    worse = checkpoint(tmp_path, "worse", 10, colors=45)
    again = base.model_copy(update={"judge_share": SHARE, "replicate": 1})
    names = ("benchmark", "figure", "max_drop")
    given = [{name: getattr(check, name) for name in names} for check in CHECKS]
    tiny.text(tmp_path / "policy.yaml", yaml.safe_dump({"checks": given}))
    gate = ("gate", "--policy", "policy.yaml", "--json")
    policy = Policy(CHECKS)
    async with ChatServer(otherwise=judge) as chat:
        first = await in_one_process(base, chat.url, alone / "base")
        repeats = (await in_one_process(again, chat.url, place_again(first, 1))).stored_run
        rules = ModelRoom.rules()
        plan = SequentialPlan(first.stored_run, policy, None, policy.level, repeats, rules)
        chat.requests.clear()
        second = await in_one_process(worse, chat.url, alone / "worse", plan)
        drawn, (scenes, colors) = shown(chat), shown_by_task(chat)
        # What is sure of a task is asked no more.
        assert scenes < colors
        ground = replace(memory_ground(store), clock=FastClock())
        settings = JudgeSettings(model=f"tgi:{chat.url}", in_flight=4, anchors=False)
        parts = await all_services(ground, settings, QaReaderSettings(), None)
        async with listening(parts) as address, RemoteGateway(Target(address)) as gateway:
            for config in (base, again):
                await over(gateway, (await send(config, gateway)).spec.run_id)
            chat.requests.clear()
            begun = await send(worse, gateway, plan.criterion)
            ended = await over(gateway, begun.spec.run_id)
            assert (ended.state, ended.spec) == (RunState.DECIDED, second.read_spec())
            assert shown(chat) == drawn
            assert len(chat.requests) == len(drawn)
            report = await gateway.report(begun.spec.run_id)
            assert report == (second.path / "report.json").read_bytes()
            runs = plan.base.spec.run_id, begun.spec.run_id
            look = await gateway.look(*runs)
            ledger = await second.stored_run.open()
            assert look == await plan.look(ledger, await second.captions(ledger))
            assert (await gateway.look(*runs, policy)) == look
            caliper = Command(tmp_path)
            there = await asyncio.to_thread(caliper, *gate, *runs, "--server", address, code=1)
            # Started again, it is what it was.
            assert (await send(worse, gateway, plan.criterion)).state is RunState.DECIDED
        here = await asyncio.to_thread(caliper, *gate, first.path, second.path, code=1)
        assert there.out == here.out


async def test_a_comparison_that_covers_less_than_its_policy_asks_for_decides_nothing(
    tmp_path: Path,
) -> None:
    base, same = (checkpoint(tmp_path, name, 10, coverage_floor=0.5) for name in ("base", "same"))
    file = tmp_path / "same" / "scene.jsonl"
    tiny.text(file, "".join(file.read_text().splitlines(keepends=True)[::2]))
    async with ChatServer(otherwise=judge) as chat:
        first = (await in_one_process(base, chat.url, tmp_path / "first")).stored_run
        policy = Policy(CHECKS[:1], min_coverage=0.9)
        plan = SequentialPlan(first, policy, None, policy.level, None, ModelRoom.rules())
        second = await in_one_process(same, chat.url, tmp_path / "second", plan)
        run = await second.stored_run.open()
        look = await plan.look(run, await second.captions(run))
        assert re.match(r"the candidate covers \d\d\.\d%, less than 90\.0%", look.reason)
        assert decision_of(look) is Decision.INCONCLUSIVE
        enough = replace(plan, policy=replace(policy, min_coverage=0.2))
        assert not (await enough.look(run, await second.captions(run))).reason


async def test_captions_known_to_be_missing_count_even_if_no_draw_met_them(tmp_path: Path) -> None:
    base, same = (checkpoint(tmp_path, name, 10) for name in ("base", "same"))
    async with ChatServer(otherwise=judge) as chat:
        first = (await in_one_process(base, chat.url, tmp_path / "first")).stored_run
        plan = SequentialPlan(first, Policy(CHECKS[:1]), None, 0.05, None, ModelRoom.rules())
        second = await in_one_process(same, chat.url, tmp_path / "second", plan)
        run, drawn = await second.stored_run.open(), shown(chat)
    captions = await second.captions(run)
    texts = captions["capability"]
    assert decision_of(await plan.look(run, captions)) is Decision.PASSED
    met = {"capability": {name: texts[name] for name in texts if texts[name] in drawn}}
    look = await plan.look(run, met)
    assert re.match(r"the candidate covers \d\d\.\d%, less than 99\.0%", look.reason)
    assert decision_of(look) is Decision.INCONCLUSIVE
