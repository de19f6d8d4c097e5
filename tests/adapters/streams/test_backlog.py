"""What nobody has taken is counted over all partitions of a topic, whenever they come."""

from collections.abc import Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.admin import OffsetSpec
from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_backlog import BacklogCounter


class Admin:
    """A broker that knows of so many partitions at each call, each with seven messages."""

    def __init__(self, *partitions: int) -> None:
        self._partitions = list(partitions)

    def describe_topics(self, _: list[str]) -> list[dict[str, Any]]:
        number = self._partitions.pop(0) if len(self._partitions) > 1 else self._partitions[0]
        return [{"partitions": list(range(number))}]

    def list_group_offsets(self, groups: Mapping[str, Any]) -> Mapping[str, Any]:
        return {group: {} for group in groups}

    def list_partition_offsets(self, specs: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return {
            place: SimpleNamespace(offset=7 if spec == OffsetSpec.LATEST else 0)
            for place, spec in specs.items()
        }

    def close(self) -> None:
        """There is no connection."""


@pytest.mark.parametrize("partitions", [(0, 2), (1, 2)])
def test_partitions_that_come_later_are_counted(partitions: tuple[int, ...]) -> None:
    # A broker that has just started may not know a topic yet.
    admin = Admin(*partitions)
    access: Any = SimpleNamespace(full_name=lambda name: name, admin=lambda: admin)
    counter = BacklogCounter(access)
    found: Mapping[int, int] = {}
    for _ in range(1000):
        with suppress(KafkaError):
            found = counter.count("qa-jobs", "qa-jobs")
    assert sum(found.values()) == 14
