"""Conversion of criteria that end a run once its answer is sure, and of looks at such runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.analysis.gate import Check, Policy, Tier
from caliper.analysis.significance import LEVEL
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.pipeline.ledger.stop_criterion import StopCriterion

if TYPE_CHECKING:
    from caliper.analysis import sequential
    from caliper.analysis.sequential import CheckLook, Look
else:
    sequential = lazy_module("caliper.analysis.sequential")

_Member = TypeVar("_Member")


def encode_criterion(criterion: StopCriterion) -> pb.StopCriterion:
    """A message that `decode_criterion` reads back."""
    policy = None if criterion.policy is None else encode_policy(criterion.policy)
    return encode_fields(pb.StopCriterion, criterion, policy=policy)


def decode_criterion(message: pb.StopCriterion) -> StopCriterion:
    """The criterion in a message. Raises InvalidInput."""
    policy = decode_policy(message.policy) if message.HasField("policy") else None
    level = LEVEL if policy is None else policy.level
    level = message.level if message.HasField("level") else level
    return decode_fields(StopCriterion, message, policy=policy, level=level)


def encode_policy(policy: Policy) -> pb.GatePolicy:
    """A message that `decode_policy` reads back."""
    return encode_fields(
        pb.GatePolicy, policy, checks=[encode_fields(pb.GateCheck, each) for each in policy.checks]
    )


def decode_policy(message: pb.GatePolicy) -> Policy:
    """The policy in a message. Raises InvalidInput."""
    checks = (
        decode_fields(Check, each, tier=_member(Tier, each.tier or Tier.CRITICAL))
        for each in message.checks
    )
    return decode_fields(Policy, message, checks=tuple(checks))


def encode_look(look: Look) -> pb.Look:
    """A message that `decode_look` reads back."""
    checks = [encode_fields(pb.CheckLook, each) for each in look.checks]
    return encode_fields(
        pb.Look, look, checks=checks, open_strata=sorted(map(to_wire, look.open_strata))
    )


def decode_look(message: pb.Look) -> Look:
    """The look in a message. Raises InvalidInput."""
    return decode_fields(
        sequential.Look,
        message,
        finding=_member(sequential.Finding, message.finding),
        checks=tuple(map(_decode_check_look, message.checks)),
        open_strata=frozenset(map(from_wire, message.open_strata)),
    )


def _decode_check_look(message: pb.CheckLook) -> CheckLook:
    finding = _member(sequential.Finding, message.finding)
    return decode_fields(sequential.CheckLook, message, finding=finding)


def _member(members: Callable[[str], _Member], text: str) -> _Member:
    try:
        return members(text)
    except ValueError as error:
        raise InvalidInput(str(error)) from error
