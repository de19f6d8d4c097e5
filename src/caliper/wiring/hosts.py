"""Opens the server of a suite's checkpoints: the only place that chooses its adapter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.lazy import lazy_module
from caliper.ports.serving import CheckpointServer, Trace
from caliper.serving.addresses import Address, refuse_plaintext
from caliper.wiring.models import Access

if TYPE_CHECKING:
    from caliper.adapters.hosts import command, process_group, triton
else:
    command = lazy_module("caliper.adapters.hosts.command")
    process_group = lazy_module("caliper.adapters.hosts.process_group")
    triton = lazy_module("caliper.adapters.hosts.triton")


class HostRoom:
    """Opens the servers of checkpoints, and removes what is left of them. `access` says how
    endpoints are reached.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    @property
    def _repository(self) -> triton.RepositoryAccess:
        return triton.RepositoryAccess(self._check, self._access.token, self._access.ca)

    def _check(self, target: str) -> None:
        """Raise InvalidInput for a server to which the token would go in plaintext."""
        host = target.partition("://")[2] or target
        way_out = f"https://{host}"
        encrypted = target.startswith("https://")
        token, address = self._access.token, Address.parse(host, field="serve")
        refuse_plaintext(token, address, encrypted=encrypted, way_out=way_out, field="serve")

    def server(self, plan: Mapping[str, Any], log: Path) -> CheckpointServer:
        """The server of a plan, the section `serve` of a suite. `log` is a file for its output."""
        limits = {"start": plan["start"], "silence": plan["silence"]}
        if plan["triton"]:
            repository = triton.RepositoryPlan(plan["triton"], plan["config"], **limits)
            return triton.RepositoryServer(repository, self._repository)
        shown = {"url": plan["url"], "health": plan["health"], "model": plan["model"]}
        return command.CommandServer(command.CommandPlan(plan["command"], **shown, **limits), log)

    async def clear(self, trace: Trace) -> None:
        """ports.serving.Clear, for all kinds of servers."""
        if trace["kind"] == "triton":
            await triton.unload(trace, self._repository)
        else:
            await process_group.end(trace)
