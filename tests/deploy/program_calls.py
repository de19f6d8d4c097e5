"""What the programs of Caliper make of what a container gives them, and whom they call then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import typer
from tests.fakes.service_settings import SERVICES

from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.models.triton_address import COMMON_OPTIONS, parse_addresses
from caliper.cli.app import app
from caliper.serving.addresses import Address
from caliper.wiring.bootstrap import BootstrapSettings
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.endpoint_settings import EndpointSettings
from caliper.wiring.grounds import kafka_access
from caliper.wiring.kafka_settings import StreamSettings
from caliper.wiring.service_settings import (
    GatewaySettings,
    ServerSettings,
    StoreSettings,
)
from caliper.wiring.settings import Settings
from caliper.wiring.specs import split_spec
from caliper.wiring.store_access import store_access
from caliper.wiring.suites_settings import SuitesSettings

SETTINGS: dict[str, type[Settings]] = {
    "bootstrap": BootstrapSettings,
    "caliper": ClientSettings,
    **SERVICES,
}
"""Settings by the first argument of our image."""
PEERS = ("aggregator", "captioner", "judge", "qa_reader")


class Called(NamedTuple):
    """An address, and whether it is spoken to by TLS. `by` says in what."""

    by: str
    address: Address
    encrypted: bool


def of_settings(settings: Settings) -> Iterator[Called]:
    """Whom a service calls. Raises InvalidInput for settings that it would not start with."""
    if isinstance(settings, ServerSettings):
        settings.server()
        settings.metrics()
    if isinstance(settings, StreamSettings):
        kafka_access(settings.kafka, settings, "KAFKA")
        secure = settings.kafka_security == "SASL_SSL"
        for each in settings.kafka.split(","):
            yield Called("kafka", Address.parse(each), secure)
    if isinstance(settings, StoreSettings) and settings.store:
        store_access(settings)
        yield _of_url("store", settings.store)
    if isinstance(settings, EndpointSettings):
        settings.access()
        split_spec(settings.model)
        yield from _of_models(settings)
    if isinstance(settings, GatewaySettings):
        settings.page()
        for peer in PEERS:
            place = getattr(settings, peer)
            if place is not None:
                target = settings.peer(peer, place)
                yield Called(peer, Address.parse(target.address), target.tls)
    if isinstance(settings, SuitesSettings):
        settings.access()
        settings.webhooks()
        target = settings.peer("gateway", settings.gateway)
        yield Called("gateway", Address.parse(target.address), target.tls)


def _of_models(settings: EndpointSettings) -> Iterator[Called]:
    for spec in settings.specs:
        kind, _, rest = spec.partition(":")
        if kind in ("chat", "tgi"):
            for endpoint in parse_endpoints(rest, kind):
                yield Called("model", Address(*endpoint.address), endpoint.encrypted)
        if kind == "triton":
            known = (*COMMON_OPTIONS, "template", "image_token", "image", "prompt", "caption")
            for one in parse_addresses(rest, known):
                yield Called("model", Address.parse(one.target), one.encrypted)


def of_arguments(arguments: Sequence[str], settings: ClientSettings) -> Iterator[Called]:
    """Whom `caliper ARGUMENTS` calls. Raises what the command line raises for wrong usage."""
    options = parsed(arguments)
    if "kafka" in options:
        kafka_access(options["kafka"], settings, "--kafka")
        for each in options["kafka"].split(","):
            yield Called("kafka", Address.parse(each), settings.kafka_security == "SASL_SSL")
    if "store" in options:
        store_access(settings.model_copy(update={"store": options["store"]}))
        yield _of_url("store", options["store"])


def parsed(arguments: Sequence[str]) -> dict[str, Any]:
    """The options of a command of `caliper`, defaults too. Raises KeyError for a command that
    is not there, and what typer raises for wrong options.
    """
    command: Any = typer.main.get_command(app)
    rest = list(arguments)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    found: dict[str, Any] = command.make_context("caliper", rest).params
    return found


def _of_url(by: str, url: str) -> Called:
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}[parts.scheme]
    return Called(by, Address(parts.hostname or "", port), parts.scheme == "https")
