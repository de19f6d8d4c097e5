"""The metrics of a process, and their page as a part of a service.

What Prometheus's client library brings along takes longer to import than a small command takes.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from cryptography import x509

from caliper.core.errors import InvalidInput
from caliper.ports.telemetry import Telemetry
from caliper.runtime.addresses import Address
from caliper.runtime.lifecycle import Parts

_LOG = logging.getLogger(__name__)


def process_telemetry() -> Telemetry:
    """Metrics for Prometheus, in a registry of their own."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 - as said above

    from caliper.adapters.metrics.prometheus import PrometheusTelemetry  # noqa: PLC0415

    return PrometheusTelemetry(CollectorRegistry())


def metrics_parts(
    telemetry: Telemetry, address: Address | None, certificate: Path | None = None
) -> Parts:
    """Serves the metrics of a process at an address; nothing where there is none, or where
    nobody keeps metrics. `certificate` is what the process serves, as PEM.

    Raises InvalidInput for a certificate that cannot be read.
    """
    from caliper.adapters.metrics import catalogue  # noqa: PLC0415 - as said above
    from caliper.adapters.metrics.prometheus import PrometheusTelemetry  # noqa: PLC0415
    from caliper.adapters.metrics.serving import PAGE, MetricsPage  # noqa: PLC0415

    if address is None or not isinstance(telemetry, PrometheusTelemetry):
        return Parts(())
    if certificate is not None:
        # The one of the start is served until the end, whatever is in the file by then.
        ends = _end_of(certificate).timestamp()
        telemetry.metrics.gauge(catalogue.CERTIFICATE).set(ends)
    page = MetricsPage(telemetry.metrics, address.host, address.port)

    async def serve() -> None:
        try:
            await page.start()
        except OSError as error:
            reason = error.strerror or error
            message = f"cannot listen on {address}: {reason}"
            raise InvalidInput(message, field="metrics_address") from error
        try:
            _LOG.info("metrics on http://%s%s", replace(address, port=page.port), PAGE)
            await asyncio.Event().wait()
        finally:
            await page.stop()

    return Parts((), tasks=(serve,))


def _end_of(certificate: Path) -> datetime:
    try:
        # Those of its authorities come after it.
        return x509.load_pem_x509_certificate(certificate.read_bytes()).not_valid_after_utc
    except (OSError, ValueError) as error:
        message = f"cannot be read: {error}"
        raise InvalidInput(message, file=str(certificate), field="tls_certificate") from error
