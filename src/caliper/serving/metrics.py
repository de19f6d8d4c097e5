"""The metrics of a process, and the HTTP page that serves them."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.ports.telemetry import Telemetry
from caliper.serving.addresses import Address
from caliper.serving.lifecycle import ServiceParts

if TYPE_CHECKING:
    import prometheus_client
    from cryptography import x509

    from caliper.adapters.metrics import catalogue, page, prometheus, traces
    from caliper.serving import web
else:
    x509 = lazy_module("cryptography.x509")
    prometheus_client = lazy_module("prometheus_client")
    catalogue = lazy_module("caliper.adapters.metrics.catalogue")
    prometheus = lazy_module("caliper.adapters.metrics.prometheus")
    page = lazy_module("caliper.adapters.metrics.page")
    traces = lazy_module("caliper.adapters.metrics.traces")
    web = lazy_module("caliper.serving.web")

_LOG = logging.getLogger(__name__)


def process_telemetry() -> Telemetry:
    """Prometheus telemetry with a registry of its own, with traces if a collector is named."""
    metrics = prometheus.Metrics(prometheus_client.CollectorRegistry())
    if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return traces.to_collector(metrics)
    return prometheus.PrometheusTelemetry(metrics)


def metrics_parts(
    telemetry: Telemetry, address: Address | None, certificate: Path | None = None
) -> ServiceParts:
    """The service parts that serve the metrics of a process at an address; none without an
    address or without Prometheus telemetry. `certificate` is the TLS certificate that the process
    serves, as PEM.

    Raises InvalidInput for a certificate that cannot be read.
    """
    if address is None or not isinstance(telemetry, prometheus.PrometheusTelemetry):
        return ServiceParts(())
    if certificate is not None:
        _expiry(certificate)
        # Rereads the file, as the server does.
        gauge = telemetry.metrics.gauge(catalogue.CERTIFICATE)
        gauge.set_function(lambda: _expiry_seconds(certificate))
    metrics = telemetry.metrics

    async def serve() -> None:
        async with _page(metrics, address, "metrics_address"):
            await asyncio.Event().wait()

    return ServiceParts((), tasks=(serve,))


@asynccontextmanager
async def suite_telemetry(address: str) -> AsyncIterator[Telemetry]:
    """Prometheus telemetry that is served at HOST:PORT; nothing is served without an address.
    Raises InvalidInput for one that cannot be used.
    """
    metrics = prometheus.Metrics(prometheus_client.CollectorRegistry())
    telemetry = prometheus.PrometheusTelemetry(metrics)
    if not address:
        yield telemetry
        return
    async with _page(metrics, Address.parse(address, "--metrics"), "--metrics"):
        yield telemetry


@asynccontextmanager
async def _page(metrics: prometheus.Metrics, address: Address, field: str) -> AsyncIterator[None]:
    application = page.metrics_application(metrics)
    application.middlewares.append(web.own_names_only(address))
    async with web.listening(application, address, field) as actual:
        _LOG.info("metrics on http://%s%s", actual, page.PAGE)
        yield


def _expiry_seconds(certificate: Path) -> float:
    """Unix time. While the file cannot be read, it is now, which raises the alert."""
    try:
        return _expiry(certificate).timestamp()
    except InvalidInput:
        return time.time()


def _expiry(certificate: Path) -> datetime:
    try:
        # The first certificate of the chain; those of its authorities follow.
        return x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
    except (OSError, ValueError) as error:
        message = f"cannot be read: {error}"
        raise InvalidInput(message, file=str(certificate), field="tls_certificate") from error
