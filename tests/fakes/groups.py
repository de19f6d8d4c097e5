"""The members of a Kafka consumer group, as the broker sees them."""

from __future__ import annotations

import asyncio

from kafka.errors import CoordinatorNotAvailableError
from tests.servers.process import ENDS_WITHIN

from caliper.adapters.streams.kafka_access import KafkaAccess


async def members(access: KafkaAccess, group: str, count: int) -> frozenset[str]:
    """The ids of a group's members, once it is stable with this many and each has a partition."""
    async with asyncio.timeout(ENDS_WITHIN):
        current = await asyncio.to_thread(_members, access, group)
        while len(current) != count:
            # A broker sends no notifications, so poll.
            await asyncio.sleep(0.1)
            current = await asyncio.to_thread(_members, access, group)
    return current


def _members(access: KafkaAccess, group: str) -> frozenset[str]:
    admin, name = access.admin(), access.full_name(group)
    try:
        description = admin.describe_groups([name])[name]
    except CoordinatorNotAvailableError:
        # A new broker has no coordinator before its first group.
        return frozenset()
    finally:
        admin.close()
    if description["group_state"] != "Stable":
        return frozenset()
    return frozenset(
        member["member_id"]
        for member in description["members"]
        if any(part["partitions"] for part in member["member_assignment"]["assigned_partitions"])
    )
