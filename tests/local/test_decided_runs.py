"""Runs that end once a rule says that the answer is sure."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.decided_runs import checkpoint, in_one_process, judge

from caliper.analysis.gate import Check, Policy
from caliper.core.run import RunState
from caliper.local.config import check_config
from caliper.local.directory import RunDirectory
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.local.watchers import SilentWatcher
from caliper.pipeline.aggregation.drawn_blocks import decide_again
from caliper.pipeline.aggregation.sequential import NO_CAPTIONS, ComparisonRule, SequentialPlan
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.store.plan import Captions
from caliper.wiring.clock import SystemClock
from caliper.wiring.settings import access, decoders

RIGHT = fake.answer('{"score": 1, "reason": "so says the server"}')
SAMPLES, SIZE = 20, 5
BLOCKS = [list(range(end - SIZE, end)) for end in range(SAMPLES, 0, -SIZE)]


@dataclass
class Rule:
    """Sure after some blocks. `looks` are the outcomes that it saw, and `closed` the questions that
    are needed in the first block only.
    """

    sure: int
    blocks: Sequence[Sequence[int]] = field(default_factory=lambda: BLOCKS)
    closed: frozenset[int] = frozenset()
    looks: list[dict[int, float | None]] = field(default_factory=list)

    def is_sure(self, outcomes: Mapping[int, float | None], blocks_done: int) -> bool:
        assert blocks_done == len(self.looks) + 1
        self.looks.append(dict(outcomes))
        return blocks_done == self.sure

    def is_drawn(self, index: int) -> bool:
        return not self.looks or index not in self.closed


async def run(
    folder: Path,
    url: str,
    rule: Rule,
    concurrency: int = 4,
    captioner: str = "",
    captions: int = SAMPLES,
) -> RunDirectory:
    part: dict[str, Any] = {"data": folder / "data", "judge": f"tgi:{url}"}
    part |= {"captioner": f"tgi:{captioner}"} if captioner else {"captions": folder / "captions"}
    values = {"benchmarks": {"capability": part}, "anchors": False, "concurrency": concurrency}
    config = check_config({**values, "out": folder / "run", "store": folder / "store"})

    async def rule_of(_: RunLedger, texts: Captions) -> Rule:
        assert len(texts["capability"]) == captions
        return rule

    clock = SystemClock()
    async with prepare(config, access(concurrency), clock) as found:
        spec = replace(found.spec, judging="f" * 64)
        setup = replace(found, spec=spec, rule_of=rule_of)
        await evaluate(setup, SilentWatcher(), clock, decoders())
    return RunDirectory(folder / "run")


def written(directory: RunDirectory) -> list[bytes]:
    return [
        (directory.path / name).read_bytes()
        for name in ("report.json", "verdicts.parquet", "report.md")
    ]


async def never(*_: object) -> web.StreamResponse:
    """Answer no request."""
    await asyncio.Event().wait()
    raise AssertionError


async def test_what_is_asked_ends_with_the_block_after_which_the_answer_is_sure(
    tmp_path: Path,
) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    rule = Rule(2)
    async with ChatServer(otherwise=RIGHT) as server:
        directory = await run(tmp_path, server.url, rule)
        assert len(server.requests) == 2 * SIZE
        again = Rule(2)
        await run(tmp_path, server.url, again)
        assert len(server.requests) == 2 * SIZE
    assert [set(look) for look in rule.looks] == [set(BLOCKS[0]), {*BLOCKS[0], *BLOCKS[1]}]
    assert set(rule.looks[-1].values()) == {1.0}
    report = (directory.path / "report.json").read_text()
    assert '"state": "decided"' in report
    assert '"partial": false' in report
    rows = tiny.read_lines(directory.path / "verdicts.jsonl")
    assert sorted(row["index"] for row in rows) == list(range(SAMPLES - 2 * SIZE, SAMPLES))
    assert "judged in part: 50.00% of 20" in (directory.path / "report.md").read_text()
    ended = await directory.stored_run.open()
    assert ended.state is RunState.DECIDED
    recalled = Rule(2)
    assert await decide_again(ended, recalled) == 2
    assert recalled.looks == rule.looks


async def test_what_is_needed_no_more_is_asked_no_more(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    closed = frozenset(range(0, SAMPLES, 2))
    drawn = {*BLOCKS[0], *({*BLOCKS[1], *BLOCKS[2]} - closed)}
    rule = Rule(3, closed=closed)
    async with ChatServer(otherwise=RIGHT) as server:
        directory = await run(tmp_path, server.url, rule)
        assert len(server.requests) == len(drawn)
    assert set(rule.looks[-1]) == drawn
    ended = await directory.stored_run.open()
    assert ended.state is RunState.DECIDED
    recalled = Rule(3, closed=closed)
    assert await decide_again(ended, recalled) == 3
    assert recalled.looks == rule.looks
    # Other checks are looked at as far as all that they need was asked.
    other = Rule(3, closed=frozenset(range(1, SAMPLES, 2)))
    assert await decide_again(ended, other) == 1
    assert len(other.looks) == 1


async def test_all_captions_are_written_before_anything_is_asked(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, SAMPLES, shade=12)
    written, rule = fake.answer("A park."), Rule(2)
    async with (
        ChatServer([written] * SIZE, otherwise=never) as captioner,
        ChatServer(otherwise=RIGHT) as server,
    ):
        task = asyncio.create_task(run(tmp_path, server.url, Rule(2), captioner=captioner.url))
        await captioner.until_received(SIZE + 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert server.requests == []
        captioner.from_now_on(written)
        directory = await run(tmp_path, server.url, rule, captioner=captioner.url)
    assert len(tiny.read_lines(directory.path / "verdicts.jsonl")) == 2 * SIZE
    ended = await directory.stored_run.open()
    assert ended.state is RunState.DECIDED
    assert len((await directory.captions(ended))["capability"]) == SAMPLES


async def test_a_caption_that_failed_is_asked_for_again_by_the_next_start(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, SAMPLES, shade=12)
    answer = fake.answer("A park.")
    async with (
        ChatServer([answer] * SIZE, otherwise=fake.status(400)) as captioner,
        ChatServer(otherwise=RIGHT) as server,
    ):
        url, rule = captioner.url, Rule(9)
        directory = await run(tmp_path, server.url, rule, captioner=url, captions=SIZE)
        assert (len(captioner.requests), len(server.requests)) == (SAMPLES, SIZE)
        rows = tiny.read_lines(directory.path / "verdicts.jsonl")
        scores = {row["index"]: row["score"] for row in rows}
        assert list(scores.values()).count(None) == SAMPLES - SIZE
        # The answered captions may be anybody's; nothing is left to decide after the last block.
        assert rule.looks[-1] == {index: scores[index] for block in BLOCKS[:-1] for index in block}
        assert (await directory.stored_run.open()).state is RunState.FINISHED
        captioner.from_now_on(answer)
        directory = await run(tmp_path, server.url, Rule(9), captioner=url)
        assert (len(captioner.requests), len(server.requests)) == (2 * SAMPLES - SIZE, SAMPLES)
    assert (await directory.stored_run.open()).state is RunState.COMPLETE


@pytest.mark.parametrize("answered", [0, 3, SIZE, SIZE + 2])
async def test_order_and_interruptions_change_no_byte(tmp_path: Path, answered: int) -> None:
    for name in ("whole", "broken"):
        tiny.write_scenes(tmp_path / name, SAMPLES)
    async with ChatServer(otherwise=RIGHT) as server:
        whole = await run(tmp_path / "whole", server.url, Rule(2), concurrency=1)
    async with ChatServer([RIGHT] * answered, otherwise=never) as server:
        task = asyncio.create_task(run(tmp_path / "broken", server.url, Rule(2), concurrency=8))
        await server.until_received(answered + 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        server.from_now_on(RIGHT)
        broken = await run(tmp_path / "broken", server.url, Rule(2), concurrency=8)
        ended = await broken.stored_run.open()
        assert ended.state is RunState.DECIDED
    assert written(broken) == written(whole)


async def test_failures_are_retried_before_the_run_is_decided_anew(tmp_path: Path) -> None:
    for name in ("whole", "broken"):
        tiny.write_scenes(tmp_path / name, SAMPLES)
    async with ChatServer(otherwise=RIGHT) as server:
        whole = await run(tmp_path / "whole", server.url, Rule(2))
    refused = fake.status(400)

    async def partly(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        step = refused if "s00015" in json.dumps(body) else RIGHT
        return await step(server, request, body)

    async with ChatServer(otherwise=partly) as server:
        first = Rule(1)
        broken = await run(tmp_path / "broken", server.url, first)
        assert (await broken.stored_run.open()).state is RunState.FINISHED
        assert list(first.looks[0].values()).count(None) == 1
        server.requests.clear()
        server.from_now_on(RIGHT)
        # With all scores, another block is needed.
        rule = Rule(2)
        broken = await run(tmp_path / "broken", server.url, rule)
        assert len(server.requests) == 1 + SIZE
        assert (await broken.stored_run.open()).state is RunState.DECIDED
    assert [len(look) for look in rule.looks] == [SIZE, 2 * SIZE]
    assert written(broken) == written(whole)


@dataclass(frozen=True, slots=True)
class _Blind(SequentialPlan):
    """A plan that knows nothing of the candidate's captions while questions are drawn."""

    async def rule_of(self, run: RunLedger, captions: Captions = NO_CAPTIONS) -> ComparisonRule:
        return await SequentialPlan.rule_of(self, run)


async def test_a_run_drawn_before_all_captions_were_there_is_looked_at_so(tmp_path: Path) -> None:
    base, worse = checkpoint(tmp_path, "base", 10), checkpoint(tmp_path, "worse", 60)
    first, second = (tmp_path / name / "scene.jsonl" for name in ("base", "worse"))
    rows = [tiny.read_lines(file) for file in (first, second)]
    tiny.lines(second, [pair[number % 2] for number, pair in enumerate(zip(*rows, strict=True))])
    async with ChatServer(otherwise=judge) as chat:
        before = await in_one_process(base, chat.url, tmp_path / "runs" / "base")
        told = Policy((Check("capability", "average.f1", max_drop=10.0),))
        plan = SequentialPlan(before.stored_run, told, None, 0.05)
        blind = _Blind(before.stored_run, told, None, 0.05)
        after = await in_one_process(worse, chat.url, tmp_path / "runs" / "worse", blind)
    ended = await after.stored_run.open()
    assert ended.state is RunState.DECIDED
    look = await plan.look(ended, await after.captions(ended))
    assert look == await blind.look(ended)
