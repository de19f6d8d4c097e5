"""Conversion of what ends a run once its answer is sure, and of looks at it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from caliper.adapters.wire.text import from_wire, to_wire
from caliper.analysis.gate import Check, Policy, Tier
from caliper.analysis.significance import LEVEL
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.errors import InvalidInput
from caliper.core.keys import fields_of
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
    return pb.StopCriterion(
        base=criterion.base,
        policy=None if criterion.policy is None else encode_policy(criterion.policy),
        margin=criterion.margin,
        level=criterion.level,
        repeats=criterion.repeats,
        rules=to_wire(criterion.rules),
        alarm_level=criterion.alarm_level,
    )


def decode_criterion(message: pb.StopCriterion) -> StopCriterion:
    """The criterion in a message. Raises InvalidInput."""
    policy = decode_policy(message.policy) if message.HasField("policy") else None
    level = LEVEL if policy is None else policy.level
    return StopCriterion(
        message.base,
        policy,
        _optional(message, "margin"),
        message.level if message.HasField("level") else level,
        message.repeats,
        from_wire(message.rules),
        _optional(message, "alarm_level"),
    )


def encode_policy(policy: Policy) -> pb.GatePolicy:
    """A message that `decode_policy` reads back."""
    checks = [
        pb.GateCheck(**fields_of(replace(check, figure=to_wire(check.figure))))
        for check in policy.checks
    ]
    return pb.GatePolicy(checks=checks, level=policy.level, min_coverage=policy.min_coverage)


def decode_policy(message: pb.GatePolicy) -> Policy:
    """The policy in a message. Raises InvalidInput."""
    given = {name: _optional(message, name) for name in ("level", "min_coverage")}
    chosen = {name: value for name, value in given.items() if value is not None}
    return Policy(tuple(map(_decode_check, message.checks)), **chosen)


def _decode_check(message: pb.GateCheck) -> Check:
    pairs = {"min_pairs": message.min_pairs} if message.HasField("min_pairs") else {}
    return Check(
        message.benchmark,
        from_wire(message.figure),
        _member(Tier, message.tier or Tier.CRITICAL),
        _optional(message, "max_drop"),
        _optional(message, "max_relative_drop"),
        **pairs,
    )


def encode_look(look: Look) -> pb.Look:
    """A message that `decode_look` reads back."""
    fields = fields_of(look) | {
        "checks": [pb.CheckLook(**fields_of(check)) for check in look.checks],
        "open_strata": sorted(look.open_strata),
    }
    return pb.Look(**fields)


def decode_look(message: pb.Look) -> Look:
    """The look in a message. Raises InvalidInput."""
    return sequential.Look(
        _member(sequential.Finding, message.finding),
        message.difference,
        message.low,
        message.high,
        _optional(message, "needed_more"),
        tuple(map(_decode_check_look, message.checks)),
        frozenset(message.open_strata),
        message.reason,
    )


def _decode_check_look(message: pb.CheckLook) -> CheckLook:
    fields = {field.name: getattr(message, field.name) for field in message.DESCRIPTOR.fields}
    finding = _member(sequential.Finding, message.finding)
    return sequential.CheckLook(
        **fields | {"finding": finding, "needed_more": _optional(message, "needed_more")}
    )


def _member(members: Callable[[str], _Member], text: str) -> _Member:
    try:
        return members(text)
    except ValueError as error:
        raise InvalidInput(str(error)) from error


def _optional(message: Any, name: str) -> Any:
    """The value of a field; None if it is unset."""
    return getattr(message, name) if message.HasField(name) else None
