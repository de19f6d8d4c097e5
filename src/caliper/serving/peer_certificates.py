"""Reads when the TLS certificates of a process's peers expire."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from dataclasses import dataclass

from caliper.ports.clock import Clock
from caliper.ports.security_events import CertificateRead
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.serving.addresses import Address
from caliper.serving.lifecycle import ServiceParts

_PACE, _PATIENCE = 600.0, 10.0


@dataclass(frozen=True, slots=True)
class PeerCertificates:
    """The certificates of a peer (kafka, store or model) at its addresses, as `context` takes
    them.
    """

    peer: str
    addresses: Sequence[Address]
    context: ssl.SSLContext
    telemetry: Telemetry
    clock: Clock

    async def run(self) -> None:
        """Read every ten minutes, until cancelled."""
        while True:
            await self.read()
            await self.clock.sleep(_PACE)

    async def read(self) -> None:
        """Record when the first of the certificates expires; skip addresses that do not answer."""
        ends = [await self._end(address) for address in self.addresses]
        times = [end for end in ends if end is not None]
        if times:
            self.telemetry.record(CertificateRead(self.peer, min(times)))

    async def _end(self, address: Address) -> float | None:
        host, port = address.host, address.port
        try:
            async with asyncio.timeout(_PATIENCE):
                _, writer = await asyncio.open_connection(host, port, ssl=self.context)
        except OSError:
            return None
        certificate = writer.get_extra_info("peercert")
        writer.transport.abort()
        return float(ssl.cert_time_to_seconds(certificate["notAfter"]))


def certificate_parts(
    peer: str,
    addresses: Sequence[Address],
    context: ssl.SSLContext,
    telemetry: Telemetry,
    clock: Clock,
) -> ServiceParts:
    """The part of a service that reads a peer's certificates; none without addresses."""
    if not addresses or telemetry is SILENT:
        return ServiceParts(())
    reader = PeerCertificates(peer, addresses, context, telemetry, clock)
    return ServiceParts((), tasks=(reader.run,))
