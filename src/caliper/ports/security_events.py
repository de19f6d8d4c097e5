"""Refused calls and messages, and signatures of stored objects, as telemetry counts them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caliper.ports.telemetry import Event


class Signature(StrEnum):
    """Why a stored object is not used."""

    MISSING = "missing"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class UnverifiedReply(Event):
    """A stored reply, or an object of a run, was not used because of its signature."""

    signature: Signature


class Refusal(StrEnum):
    """Why a message about a run is not entered."""

    UNDECODABLE = "undecodable"
    UNSIGNED = "unsigned"
    FORGED = "forged"
    SENDER = "sender"
    """Its sender may not send it."""
    KEY = "key"
    """It is about something else than its key says."""
    PLAN = "plan"
    """The plan of its run has no such question about the sample."""
    SCORE = "score"
    """The question cannot have this outcome."""


@dataclass(frozen=True, slots=True)
class MessageRefused(Event):
    """A message about a run was not entered."""

    topic: str
    reason: Refusal


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
