"""Checkpoints served by a command: all its processes end, by whomever they are ended."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.fakes.checkpoint_server import HOST
from tests.fakes.suites import checkpoint

from caliper.adapters.hosts import process_group
from caliper.adapters.hosts.command import CommandPlan, CommandServer
from caliper.core.errors import BackendRejected, BackendUnavailable, LeaseLost
from caliper.ports.serving import CheckpointEndpoint, Trace

URL = "http://127.0.0.1:{port}"


def plan(*more: str, words: tuple[str, ...] = (), **limits: float) -> CommandPlan:
    host = words or (sys.executable, str(HOST), "{port}", "{revision}", "{source}", *more)
    return CommandPlan(host, URL, "/health", "{revision}", **{"start": 30, "silence": 30, **limits})


class TracedServer:
    """A server of a command, and the traces that it noted."""

    def __init__(self, plan: CommandPlan, folder: Path) -> None:
        self.log, self.traces = folder / "log", list[Trace]()
        self.server = CommandServer(plan, self.log)

    async def note(self, trace: Trace) -> None:
        self.traces.append(trace)

    async def start(self) -> CheckpointEndpoint:
        source = str(self.log.with_name("processes"))
        return await self.server.start(checkpoint(1, source=source), self.note)

    @property
    def processes(self) -> list[int]:
        return sorted(process_group.members(self.traces[-1]))


@asynccontextmanager
async def served(plan: CommandPlan, folder: Path) -> AsyncIterator[TracedServer]:
    one = TracedServer(plan, folder)
    try:
        yield one
    finally:
        for trace in one.traces:
            await process_group.end(trace, grace=0.1)
        await one.server.close()


async def test_a_command_serves_and_ends_with_all_that_it_started(tmp_path: Path) -> None:
    async with served(plan(), tmp_path) as one:
        endpoint = await one.start()
        assert endpoint.model == "rev1"
        async with aiohttp.ClientSession() as session:
            answer = await session.get(f"{endpoint.url}/v1/models")
            assert (await answer.json())["data"][0]["id"] == "rev1"
        told = (tmp_path / "processes").read_text().split()
        assert sorted(map(int, told)) == one.processes
        # Another process ends it by what the record says.
        trace = json.loads(json.dumps(one.traces[0]))
        await process_group.end(trace, grace=0.1)
        assert one.processes == []
        # To end it once more does nothing.
        await process_group.end(trace)
        # On a machine with much to do it may not have ended by itself in time.
        with pytest.raises(BackendRejected, match=r"ended with exit code -(15|9); its output"):
            await one.server.watch()


async def test_another_process_of_the_same_number_is_left_alone(tmp_path: Path) -> None:
    async with served(plan(), tmp_path) as one:
        await one.start()
        (trace,) = one.traces
        for other in ({"start": trace["start"] + 1}, {"boot": "another"}):
            assert process_group.members({**trace, **other}) == []
        assert len(one.processes) == 2


async def test_a_loop_killed_before_the_trace_is_kept_leaves_no_process(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(
        "import asyncio, json, os, signal, sys\n"
        "from pathlib import Path\n"
        "from caliper.adapters.hosts.command import CommandPlan, CommandServer\n"
        "from caliper.core.checkpoints import CheckpointRevision\n"
        "async def note(trace):\n"
        "    print(json.dumps(trace), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "plan = CommandPlan(('touch', sys.argv[1]), 'http://127.0.0.1:1', '/', '', 30, 30)\n"
        "server = CommandServer(plan, Path(sys.argv[2]))\n"
        "asyncio.run(server.start(CheckpointRevision('/c', 'r', 'n'), note))\n"
    )
    words = [sys.executable, script, tmp_path / "ran", tmp_path / "log"]
    ended = await asyncio.to_thread(subprocess.run, words, capture_output=True, check=False)
    assert ended.returncode == -9
    trace = json.loads(ended.stdout)
    async with asyncio.timeout(30):
        while process_group.members(trace):  # noqa: ASYNC110 - a process of another
            await asyncio.sleep(0.01)
    assert not (tmp_path / "ran").exists()


async def test_a_loop_that_cannot_keep_the_trace_leaves_no_process(tmp_path: Path) -> None:
    one = TracedServer(plan(words=("touch", str(tmp_path / "ran"))), tmp_path)

    async def note(trace: Trace) -> None:
        one.traces.append(trace)
        raise LeaseLost("another has it")

    with pytest.raises(LeaseLost):
        await one.server.start(checkpoint(1), note)
    await one.server.close()
    assert one.processes == []
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        # A loaded machine takes longer than a second until it listens.
        (
            {"more": ("slow",), "start": 8},
            r"^not ready within 8 seconds: GET /health: HTTP 503; its output",
        ),
        (
            {"words": ("sh", "-c", "echo dark; sleep 60"), "start": 4},
            r"^not ready within 4 seconds: GET /health: Connection refused; its output ends: dark$",
        ),
        (
            {"words": ("sh", "-c", "echo no memory; exit 3")},
            r"exit code 3; its output ends: no mem",
        ),
        ({"words": ("/no/such/{revision}",)}, r"exit code 12\d; its output ends: .*/no/such/rev1"),
    ],
)
async def test_what_does_not_get_ready_fails_and_says_why(
    tmp_path: Path, more: dict[str, Any], told: str
) -> None:
    first = more.pop("more", ())
    async with served(plan(*first, **{"start": 1, **more}), tmp_path) as one:
        with pytest.raises(BackendRejected, match=told):
            await one.start()


async def test_another_server_at_the_address_is_not_taken_for_its_own(tmp_path: Path) -> None:
    async with served(plan(), tmp_path) as one:
        endpoint = await one.start()
        ran = tmp_path / "ran"
        later = replace(plan(words=("touch", str(ran))), url=endpoint.url)
        async with served(later, tmp_path / "later") as other:
            told = f"another server answers at {endpoint.url} already"
            with pytest.raises(BackendUnavailable, match=f"^{told}$"):
                await other.start()
            assert other.traces == []
        assert not ran.exists()


async def test_a_server_that_hangs_is_noticed(tmp_path: Path) -> None:
    async with served(plan("hangs", silence=0.5), tmp_path) as one:
        endpoint = await one.start()

        async def ask() -> None:
            async with aiohttp.ClientSession() as session:
                await session.post(f"{endpoint.url}/v1/chat/completions", json={})

        asking = asyncio.create_task(ask())
        with pytest.raises(BackendRejected, match=r"no answer to GET /health for 0\.5 seconds: "):
            await one.server.watch()
        asking.cancel()
