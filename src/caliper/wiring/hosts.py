"""Opens the server of a suite's checkpoints: the only place that chooses its adapter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from caliper.adapters.hosts.access import HostAccess
from caliper.lazy import lazy_module
from caliper.ports.serving import CheckpointServer, Trace
from caliper.serving.addresses import Address, refuse_plaintext
from caliper.wiring.models import Access

if TYPE_CHECKING:
    from caliper.adapters.hosts import command, endpoint, pod, process_group, triton
else:
    command = lazy_module("caliper.adapters.hosts.command")
    endpoint = lazy_module("caliper.adapters.hosts.endpoint")
    pod = lazy_module("caliper.adapters.hosts.pod")
    process_group = lazy_module("caliper.adapters.hosts.process_group")
    triton = lazy_module("caliper.adapters.hosts.triton")


class HostRoom:
    """Opens the servers of checkpoints, and removes what is left of them. `access` says how
    endpoints are reached.
    """

    def __init__(self, access: Access) -> None:
        self._token = access.token
        self._hosts = HostAccess(self._check, access.token, access.ca)

    def _check(self, target: str) -> None:
        """Raise InvalidInput for a server to which the token would go in plaintext."""
        url = urlsplit(target if "://" in target else f"http://{target}")
        address, is_tls = Address(url.hostname or "", url.port or 0), url.scheme == "https"
        way_out = f"https://{url.netloc}"
        refuse_plaintext(self._token, address, encrypted=is_tls, way_out=way_out, field="serve")

    def server(self, plan: Mapping[str, Any], log: Path) -> CheckpointServer:
        """The server of a plan, the section `serve` of a suite. `log` is a file for its output."""
        limits = {"start": plan["start"], "silence": plan["silence"]}
        if plan["triton"]:
            repository = triton.RepositoryPlan(plan["triton"], plan["config"], **limits)
            return triton.RepositoryServer(repository, self._hosts)
        if plan["endpoint"]:
            found = endpoint.EndpointPlan(plan["endpoint"], plan["model"], plan["lora"], **limits)
            return endpoint.EndpointServer(found, self._hosts)
        if plan["pod"]:
            keys = ("model", "port", "health", "api", "namespace", "account")
            chosen = {key: plan[key] for key in keys}
            return pod.PodServer(pod.PodPlan(plan["pod"], **chosen, **limits))
        shown = {"url": plan["url"], "health": plan["health"], "model": plan["model"]}
        return command.CommandServer(command.CommandPlan(plan["command"], **shown, **limits), log)

    async def clear(self, trace: Trace) -> None:
        """ports.serving.Clear, for all kinds of servers."""
        if trace["kind"] == "triton":
            await triton.unload(trace, self._hosts)
        elif trace["kind"] == "lora":
            await endpoint.unload(trace, self._hosts)
        elif trace["kind"] == "pod":
            await pod.delete(trace)
        else:
            await process_group.end(trace)
