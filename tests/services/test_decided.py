"""Runs that an installation ends once their comparison with a baseline is sure."""

import asyncio
from dataclasses import replace
from pathlib import Path

import yaml
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import FastClock
from tests.fakes.command import Command
from tests.fakes.decided import SAMPLES, checkpoint, in_one_process, judge, shown
from tests.fakes.installation import listening, over

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.analysis.gate import Check, Policy
from caliper.cli.submission import send
from caliper.core.run import RunState
from caliper.local.judged_again import SHARE, place_again
from caliper.pipeline.aggregation.sequential import SequentialPlan
from caliper.wiring.grounds import memory_ground
from caliper.wiring.models import ModelRoom
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

CHECK = {"benchmark": "capability", "figure": "average.f1", "max_drop": 5.0}


async def test_report_calls_and_gate_are_those_of_one_process(tmp_path: Path) -> None:
    alone, store = tmp_path / "alone", DirectoryStore(tmp_path / "store")
    base, worse = checkpoint(tmp_path, "base", 10), checkpoint(tmp_path, "worse", 60)
    again = base.model_copy(update={"judge_share": SHARE, "replicate": 1})
    tiny.text(tmp_path / "policy.yaml", yaml.safe_dump({"checks": [CHECK]}))
    gate = ("gate", "--policy", "policy.yaml", "--json")
    policy = Policy((Check("capability", "average.f1", max_drop=5.0),))
    async with ChatServer(otherwise=judge) as chat:
        first = await in_one_process(base, chat.url, alone / "base")
        repeats = (await in_one_process(again, chat.url, place_again(first))).stored_run
        rules = ModelRoom.rules()
        plan = SequentialPlan(first.stored_run, policy, None, policy.level, repeats, rules)
        chat.requests.clear()
        second = await in_one_process(worse, chat.url, alone / "worse", plan)
        drawn = shown(chat)
        assert len(drawn) < SAMPLES / 2
        ground = replace(memory_ground(store), clock=FastClock())
        settings = JudgeSettings(model=f"tgi:{chat.url}", in_flight=4, anchors=False)
        parts = await all_services(ground, settings, QaReaderSettings(), None)
        async with listening(parts) as address, RemoteGateway(Target(address)) as gateway:
            for config in (base, again):
                await over(gateway, (await send(config, gateway, store)).spec.run_id)
            chat.requests.clear()
            begun = await send(worse, gateway, store, plan.criterion)
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
            assert (await send(worse, gateway, store, plan.criterion)).state is RunState.DECIDED
        here = await asyncio.to_thread(caliper, *gate, first.path, second.path, code=1)
        assert there.out == here.out
