"""Conversion of core's enumerations to wire numbers, matched by name.

A member without a counterpart in the protos fails the import of this module.
"""

from __future__ import annotations

from typing import cast

from caliper.api.stream.v1 import messages_pb2
from caliper.api.types.v1 import outcome_pb2, run_pb2
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Source
from caliper.core.run import RunState

# In protoc's stubs numbers have the type of their enumeration, but `Value` returns a plain int.
_REASONS = {
    reason: cast("outcome_pb2.Reason", outcome_pb2.Reason.Value(f"REASON_{reason.name}"))
    for reason in Reason
}
_STATES = {
    state: cast("run_pb2.RunState", run_pb2.RunState.Value(f"RUN_STATE_{state.name}"))
    for state in RunState
}
_SOURCES = {
    source: cast("messages_pb2.Source", messages_pb2.Source.Value(f"SOURCE_{source.name}"))
    for source in Source
}
_REASON_OF: dict[int, Reason] = {number: reason for reason, number in _REASONS.items()}
_STATE_OF: dict[int, RunState] = {number: state for state, number in _STATES.items()}
_SOURCE_OF: dict[int, Source] = {number: source for source, number in _SOURCES.items()}


def encode_reason(reason: Reason) -> outcome_pb2.Reason:
    """The wire number of a reason."""
    return _REASONS[reason]


def decode_reason(number: int) -> Reason:
    """The reason of a wire number. Raises InvalidInput for an unknown number."""
    if number not in _REASON_OF:
        raise InvalidInput(f"a message holds no known reason: {number}")
    return _REASON_OF[number]


def encode_state(state: RunState) -> run_pb2.RunState:
    """The wire number of a run's state."""
    return _STATES[state]


def decode_state(number: int) -> RunState:
    """The run's state of a wire number. Raises InvalidInput for an unknown number."""
    if number not in _STATE_OF:
        raise InvalidInput(f"a message holds no known state of a run: {number}")
    return _STATE_OF[number]


def encode_source(source: Source) -> messages_pb2.Source:
    """The wire number of a question's source."""
    return _SOURCES[source]


def decode_source(number: int) -> Source:
    """The source of a wire number. Raises InvalidInput for an unknown number."""
    if number not in _SOURCE_OF:
        raise InvalidInput(f"a message holds no known source: {number}")
    return _SOURCE_OF[number]
