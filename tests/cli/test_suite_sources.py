"""Suites of an installation, and checkpoints that webhooks announce."""

import asyncio
import json
import signal
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command
from tests.fakes.installation import listening
from tests.fakes.suite_folders import deliver, states, suite

from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.checkpoints import EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services


async def decide(root: Path) -> None:
    """Leave figures, as whoever evaluates for the installation does."""
    registry = SuiteRegistry(DirectoryStore(root), SystemClock())
    ((stored,), _) = await registry.entries("nightly")
    figures = (EntryFigure("capability", "average.recall", 41.5),)
    await registry.change_entry(stored.key, EntryCause.CLAIM)
    await registry.change_entry(stored.key, EntryCause.NO_GATE, figures=figures)


async def test_an_installation_keeps_suites_for_others(caliper: Command, tmp_path: Path) -> None:
    suite(caliper.folder, retention={"keep": 3})
    path = deliver(caliper.folder, 100, "careful")
    parts = await all_services(
        memory_ground(DirectoryStore(tmp_path / "installed")),
        JudgeSettings(),
        QaReaderSettings(),
        None,
    )

    async with listening(parts) as address:
        there = ("--server", address)

        async def told(*arguments: Any, code: int = 0) -> Any:
            ended = await asyncio.to_thread(caliper, *arguments, *there, "--json", code=code)
            return ended.told if code == 0 else ended.err

        assert (await told("suite", "apply", "suite.yaml"))["new"]
        assert (await told("suite", "show", "nightly"))["keep"] == 3
        assert [each["suite"] for each in await told("suite", "list")] == ["nightly"]
        (added,) = await told("checkpoint", "add", path)
        assert (added["state"], added["checkpoint"]["source"]) == ("registered", str(path))
        (shown,) = await told("checkpoint", "show", "step-100")
        assert shown["checkpoint"] == added["checkpoint"]
        assert [each["state"] for each in await told("checkpoint", "skip", "step-100")] == [
            "skipped"
        ]
        (status,) = await told("suite", "status")
        assert status["checkpoints"] == {"skipped": 1}
        await told("checkpoint", "retry", "step-100")
        await decide(tmp_path / "installed")
        trend = ("trend", "nightly", "--figure", "capability.average.recall", *there)
        assert "41.5" in (await asyncio.to_thread(caliper, *trend, code=0)).out
        assert (await told("suite", "pause", "nightly"))["state"] == "paused"
        assert "unknown checkpoint" in await told("checkpoint", "retry", "step-7", code=2)
    # This folder's own registry holds nothing.
    assert caliper("suite", "list", code=0).out == ""


def test_what_an_installation_cannot_evaluate_is_not_applied(caliper: Command) -> None:
    apply = ("suite", "apply", "suite.yaml", "--server", "127.0.0.1:1")
    suite(caliper.folder, anchors=False)
    assert "anchors: not with --server" in caliper(*apply, code=2).err
    suite(caliper.folder, notify={"ci": {"url": "http://127.0.0.1/", "secret": "file:hook.key"}})
    message = "suite.yaml:8: notify.ci.secret: not with --server: give the absolute path"
    assert message in caliper(*apply, code=2).err


def test_a_loop_listens_to_webhooks(caliper: Command) -> None:
    suite(caliper.folder)
    caliper("suite", "apply", "suite.yaml", code=0)
    caliper("suite", "pause", "nightly", code=0)
    loop = ("suite", "run", "nightly", "--listen", "127.0.0.1:0")
    assert "CALIPER_WEBHOOK_SECRET_" in caliper(*loop, code=2).err
    listener = replace(caliper, environment={"CALIPER_WEBHOOK_SECRET_HUGGINGFACE": "ours"})
    process = listener.start(*loop)
    assert process.stderr is not None
    address = process.stderr.readline().split()[-1]
    repo = {"type": "model", "name": "org/model", "headSha": "c0ffee"}
    payload = {"event": {"action": "update", "scope": "repo.content"}, "repo": repo}

    def delivered(secret: str) -> int:
        headers = {"X-Webhook-Secret": secret}
        data = json.dumps(payload).encode()
        with closing(HTTPConnection(address.split("/")[2])) as connection:
            connection.request("POST", "/webhooks/huggingface", data, headers)
            return connection.getresponse().status

    assert [delivered("guessed"), delivered("ours"), delivered("ours")] == [401, 200, 200]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert states(caliper) == {"org/model main": "registered"}
