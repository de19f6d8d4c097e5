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
    """The sender may not send this message."""
    KEY = "key"
    """The content does not match the key."""
    PLAN = "plan"
    """The run's plan has no such question about the sample."""
    SCORE = "score"
    """The question cannot have this outcome."""


@dataclass(frozen=True, slots=True)
class MessageRefused(Event):
    """A message about a run was not entered."""

    topic: str
    reason: Refusal


@dataclass(frozen=True, slots=True)
class CallRefused(Event):
    """A server's guard refused a call. `method` and `reason` are from closed sets."""

    method: str
    reason: str


@dataclass(frozen=True, slots=True)
class CertificateRead(Event):
    """When the first certificate of a peer (kafka, store or model) expires."""

    peer: str
    time: float
