"""Refused calls and signatures of stored replies, as telemetry counts them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caliper.ports.telemetry import Event


class Signature(StrEnum):
    """Why a stored reply is not used."""

    MISSING = "missing"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class UnverifiedReply(Event):
    """Stored replies were not used because of their signature."""

    signature: Signature


@dataclass(frozen=True, slots=True)
class CallRefused(Event):
    """The guard of a server refused a call. `method` and `reason` are of closed sets."""

    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class CertificateRead(Event):
    """When the first certificate of a peer (kafka, store or model) ends."""

    peer: str
    time: float
