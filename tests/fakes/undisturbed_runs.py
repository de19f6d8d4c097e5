"""Runs of one process, which nothing disturbs, as those of services are to end. They are equal
whenever configuration and models are, and evaluated once.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.chat_server import ChatServer
from tests.fakes.installation import alone
from tests.fakes.small_runs import local, standing

from caliper.cli.warning_watcher import WarningWatcher
from caliper.local.config import RunConfig


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """report.json and verdicts.parquet, each row of the verdicts reduced by `standing`, and the
    number of requests to the model of each stage.
    """

    report: bytes
    parquet: bytes
    rows: list[dict[str, Any]]
    needed: Mapping[str, int]


_EVALUATED: dict[tuple[object, ...], Undisturbed] = {}


async def undisturbed(config: RunConfig, chats: Mapping[str, ChatServer]) -> Undisturbed:
    """The run with these models. A model is known by the step by which it answers."""
    key = (config.model_dump_json(), *((kind, chat.step) for kind, chat in chats.items()))
    if key not in _EVALUATED:
        _EVALUATED[key] = await _evaluated(config, chats)
    return _EVALUATED[key]


async def _evaluated(config: RunConfig, chats: Mapping[str, ChatServer]) -> Undisturbed:
    before = {kind: len(chat.requests) for kind, chat in chats.items()}
    for chat in chats.values():
        chat.delay = 0
    with tempfile.TemporaryDirectory() as folder:
        report = await alone(local(config, chats), WarningWatcher(), Path(folder))
        files = Path(folder, "alone")
        lines = (files / "verdicts.jsonl").read_text("utf-8").splitlines()
        return Undisturbed(
            report,
            (files / "verdicts.parquet").read_bytes(),
            [standing(json.loads(line)) for line in lines],
            {kind: len(chat.requests) - before[kind] for kind, chat in chats.items()},
        )
