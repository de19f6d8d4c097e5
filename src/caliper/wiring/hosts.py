"""Opens the server of a suite's checkpoints: the only place that chooses its adapter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from caliper.adapters.hosts.access import HostAccess
from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.lazy import lazy_module
from caliper.ports.serving import CheckpointServer, Trace
from caliper.serving.addresses import Address
from caliper.wiring.endpoint_tokens import EndpointPlace
from caliper.wiring.models import Access

if TYPE_CHECKING:
    from pydantic import SecretStr

    from caliper.adapters.hosts import command, endpoint, pod, process_group, triton
else:
    command = lazy_module("caliper.adapters.hosts.command")
    endpoint = lazy_module("caliper.adapters.hosts.endpoint")
    pod = lazy_module("caliper.adapters.hosts.pod")
    process_group = lazy_module("caliper.adapters.hosts.process_group")
    triton = lazy_module("caliper.adapters.hosts.triton")


@dataclass(frozen=True, slots=True)
class PermittedHosts:
    """Hosts that may serve checkpoints, whoever applies a suite: `servers`, each
    `[https://]HOST:PORT`, and pods in `namespace`, unless it is empty, of the API server `api`,
    with the credentials in the folder `account`.
    """

    servers: tuple[str, ...]
    namespace: str
    api: str
    account: str

    def check(self, target: str) -> None:
        """Raise InvalidInput for a server that is not permitted, or for several."""
        if "," in target:
            # SPECs separate servers by it.
            raise InvalidInput("expected one server, found a comma", field="serve")
        if _origin(target) not in map(_origin, self.servers):
            host = _origin(target)[1].rpartition("@")[2]
            message = f"{host:.200} is not one of the servers in CALIPER_SUITES_SERVERS"
            raise InvalidInput(message, field="serve")

    @property
    def of_pods(self) -> Mapping[str, str]:
        """The plan's fields for pods. Raises InvalidInput if pods are not permitted."""
        if not self.namespace:
            message = "CALIPER_SUITES_PODS names no namespace for pods"
            raise InvalidInput(message, field="serve.pod")
        return {"namespace": self.namespace, "api": self.api, "account": self.account}


def _origin(target: str) -> tuple[str, str]:
    url = _url(target)
    return url.scheme, url.netloc


def _url(target: str) -> SplitResult:
    """The URL of a server, with a valid port. Raises InvalidInput."""
    try:
        url = urlsplit(target if "://" in target else f"http://{target}")
        _ = url.port
    except ValueError:
        raise InvalidInput("the address cannot be read", field="serve") from None
    return url


class HostRoom:
    """Opens the servers of checkpoints, and removes their remains. `access` says how endpoints are
    reached. `permitted` restricts the hosts.
    """

    def __init__(self, access: Access, permitted: PermittedHosts | None = None) -> None:
        self._tokens, self._permitted = access.tokens, permitted
        self._hosts = HostAccess(self._token, access.ca)

    def _token(self, target: str) -> SecretStr | None:
        """The token of a server. Raises InvalidInput for a server that is not permitted, and for a
        token that may not go there or would go there in plaintext.
        """
        if self._permitted is not None:
            self._permitted.check(target)
        url = _url(target)
        is_tls = url.scheme == "https"
        address = Address(url.hostname or "", url.port or (443 if is_tls else 80))
        return self._tokens.sendable(EndpointPlace(address, url.path, is_tls), "serve")

    def server(self, plan: Mapping[str, Any], log: Path) -> CheckpointServer:
        """The server of a plan, the section `serve` of a suite. `log` is a file for its output."""
        limits = {"start": plan["start"], "silence": plan["silence"]}
        if plan["triton"]:
            repository = triton.RepositoryPlan(plan["triton"], plan["config"], **limits)
            return triton.RepositoryServer(repository, self._hosts)
        if plan["endpoint"]:
            values = plan["endpoint"], plan["model"], plan["lora"]
            return endpoint.EndpointServer(endpoint.EndpointPlan(*values, **limits), self._hosts)
        if plan["pod"]:
            keys = ("model", "port", "health", "api", "namespace", "account")
            options = {key: plan[key] for key in keys}
            if self._permitted is not None:
                options |= self._permitted.of_pods
            return pod.PodServer(pod.PodPlan(plan["pod"], **options, **limits))
        if self._permitted is not None:
            raise InvalidInput("an installation runs no commands", field="serve.command")
        options = {"url": plan["url"], "health": plan["health"], "model": plan["model"]}
        return command.CommandServer(command.CommandPlan(plan["command"], **options, **limits), log)

    async def clear(self, trace: Trace) -> None:
        """ports.serving.Clear, for all kinds of servers."""
        try:
            await self._remove(trace)
        except InvalidInput as error:
            # The settings have changed since: not the fault of the next suite.
            message = f"the previous server there cannot be removed: {error}"
            raise BackendUnavailable(message) from error

    async def _remove(self, trace: Trace) -> None:
        if trace["kind"] == "triton":
            await triton.unload(trace, self._hosts)
        elif trace["kind"] == "lora":
            await endpoint.unload(trace, self._hosts)
        elif trace["kind"] == "pod":
            await pod.delete(trace)
        else:
            await process_group.end(trace)
