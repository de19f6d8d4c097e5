"""Opens the server of a suite's checkpoints: the only place that chooses its adapter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.lazy import lazy_module
from caliper.ports.serving import CheckpointServer, Trace

if TYPE_CHECKING:
    from caliper.adapters.hosts import command, process_group
else:
    command = lazy_module("caliper.adapters.hosts.command")
    process_group = lazy_module("caliper.adapters.hosts.process_group")


def checkpoint_server(plan: Mapping[str, Any], log: Path) -> CheckpointServer:
    """The server of a plan, the section `serve` of a suite. `log` is a file for its output."""
    limits = {"start": plan["start"], "silence": plan["silence"]}
    shown = {"url": plan["url"], "health": plan["health"], "model": plan["model"]}
    return command.CommandServer(command.CommandPlan(plan["command"], **shown, **limits), log)


async def clear(trace: Trace) -> None:
    """ports.serving.Clear, for all kinds of servers."""
    await process_group.end(trace)
