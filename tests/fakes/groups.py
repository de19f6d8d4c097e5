"""The members of a Kafka consumer group, as the broker sees them."""

from __future__ import annotations

import asyncio

from tests.servers.process import ENDS_WITHIN

from caliper.adapters.streams.kafka_access import KafkaAccess


async def members(servers: str, group: str, count: int) -> frozenset[str]:
    """The ids of a group's members, once it is stable with this many and each has a partition."""
    async with asyncio.timeout(ENDS_WITHIN):
        found = await asyncio.to_thread(_members, servers, group)
        while len(found) != count:
            # A broker sends no notifications, so poll.
            await asyncio.sleep(0.1)
            found = await asyncio.to_thread(_members, servers, group)
    return found


def _members(servers: str, group: str) -> frozenset[str]:
    admin = KafkaAccess(servers).admin()
    try:
        found = admin.describe_groups([group])[group]
    finally:
        admin.close()
    if found["group_state"] != "Stable":
        return frozenset()
    return frozenset(
        member["member_id"]
        for member in found["members"]
        if any(part["partitions"] for part in member["member_assignment"]["assigned_partitions"])
    )
