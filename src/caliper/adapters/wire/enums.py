"""Conversion of core's enumerations to wire numbers, matched by name.

A member without a counterpart in the protos fails the import of this module.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, TypeVar

from caliper.api.evaluate.v1 import evaluate_pb2
from caliper.api.stream.v1 import messages_pb2
from caliper.api.suites.v1 import suites_pb2
from caliper.api.types.v1 import outcome_pb2, run_pb2
from caliper.core.entry_states import EntryState
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Source
from caliper.core.run import RunState
from caliper.core.suites import SuiteState
from caliper.core.terms import Priority

_Member = TypeVar("_Member", bound=Enum)


def _conversion(
    members: type[_Member], wire: Any, prefix: str, noun: str
) -> tuple[Callable[[_Member], Any], Callable[[int], _Member]]:
    """Functions from member to number and back. The latter raises InvalidInput for an unknown
    number; `noun` names it there.
    """
    numbers = {member: wire.Value(prefix + member.name) for member in members}
    members_by_number = {number: member for member, number in numbers.items()}

    def decode(number: int) -> _Member:
        if number not in members_by_number:
            raise InvalidInput(f"unknown {noun} in a message: {number}")
        return members_by_number[number]

    return numbers.__getitem__, decode


encode_reason, decode_reason = _conversion(Reason, outcome_pb2.Reason, "REASON_", "reason")
encode_state, decode_state = _conversion(RunState, run_pb2.RunState, "RUN_STATE_", "state of a run")
encode_source, decode_source = _conversion(Source, messages_pb2.Source, "SOURCE_", "source")
encode_priority, decode_priority = _conversion(
    Priority, evaluate_pb2.Priority, "PRIORITY_", "priority"
)
encode_suite_state, decode_suite_state = _conversion(
    SuiteState, suites_pb2.SuiteState, "SUITE_STATE_", "state of a suite"
)
encode_entry_state, decode_entry_state = _conversion(
    EntryState, suites_pb2.EntryState, "ENTRY_STATE_", "state of a checkpoint"
)
