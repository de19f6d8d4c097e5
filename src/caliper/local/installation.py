"""The gateway and the store of an installation, reached as the environment says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from caliper.lazy import lazy_module
from caliper.ports.storage import DeletableStore

if TYPE_CHECKING:
    from caliper.adapters.remote import gateway
    from caliper.wiring import client_settings, grounds, settings
else:
    gateway = lazy_module("caliper.adapters.remote.gateway")
    client_settings = lazy_module("caliper.wiring.client_settings")
    settings = lazy_module("caliper.wiring.settings")
    grounds = lazy_module("caliper.wiring.grounds")

_Answer = TypeVar("_Answer")


def open_gateway(server: str) -> gateway.RemoteGateway:
    """The gateway at `server`. Raises what `read_settings` and `ClientSettings.gateway` raise."""
    client = settings.read_settings(client_settings.ClientSettings)
    return gateway.RemoteGateway(client.gateway(server))


async def ask_gateway(
    server: str, question: Callable[[gateway.RemoteGateway], Awaitable[_Answer]]
) -> _Answer:
    """The answer of the gateway at `server`. Raises what `open_gateway` and the question raise."""
    async with open_gateway(server) as opened:
        return await question(opened)


def store_at(place: str | None) -> DeletableStore:
    """The store at `place`, by default the one in CALIPER_STORE.

    Raises what `read_settings` and `grounds.open_store` raise.
    """
    client = settings.read_settings(client_settings.ClientSettings)
    return grounds.open_store(client.model_copy(update={"store": place}) if place else client)
