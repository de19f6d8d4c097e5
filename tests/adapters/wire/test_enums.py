from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest

from caliper.adapters.wire import enums
from caliper.api.stream.v1 import messages_pb2
from caliper.api.types.v1 import outcome_pb2, run_pb2
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Source
from caliper.core.run import RunState

TABLE = [
    (Reason, outcome_pb2.Reason, "REASON_", enums.encode_reason, enums.decode_reason),
    (RunState, run_pb2.RunState, "RUN_STATE_", enums.encode_state, enums.decode_state),
    (Source, messages_pb2.Source, "SOURCE_", enums.encode_source, enums.decode_source),
]
rows = pytest.mark.parametrize(
    ("members", "numbers", "prefix", "encode", "decode"), TABLE, ids=lambda row: ""
)


@rows
def test_core_and_the_protos_have_the_same_members(
    members: type[StrEnum], numbers: Any, prefix: str, encode: Any, decode: Any
) -> None:
    """Fails when core grows a member that the protos lack, or the other way round."""
    expected = {f"{prefix}UNSPECIFIED", *(f"{prefix}{member.name}" for member in members)}
    assert set(numbers.keys()) == expected


@rows
def test_every_member_is_read_back(
    members: type[StrEnum],
    numbers: Any,
    prefix: str,
    encode: Callable[[StrEnum], int],
    decode: Callable[[int], StrEnum],
) -> None:
    assert [decode(encode(member)) for member in members] == list(members)
    assert numbers.Value(f"{prefix}UNSPECIFIED") == 0


@rows
def test_a_number_without_a_member_is_refused(
    members: type[StrEnum], numbers: Any, prefix: str, encode: Any, decode: Callable[[int], StrEnum]
) -> None:
    for number in (0, -1, 1000):
        with pytest.raises(InvalidInput, match=str(number)):
            decode(number)
