"""What a member says of itself while its group has no coordinator: kafka-python tells nobody."""

import asyncio
from threading import Semaphore
from types import SimpleNamespace
from typing import Any

from kafka.structs import MemberState
from tests.fakes.clock import PATIENCE

from caliper.adapters.streams.kafka import KafkaMember

GROUP = "judge-jobs"
LONG, SHORT = 3600.0, 0.01


class Client:
    """A client in some state, of a cluster that answers everything else. `polls` goes from one of
    its polls into the next.
    """

    def __init__(self) -> None:
        self.state = MemberState.UNJOINED
        self._begun, self._ended = Semaphore(0), Semaphore(0)

    def group_metadata(self) -> Any:
        return SimpleNamespace(state=self.state)

    def subscribe(self, *_: object, **__: object) -> None:
        pass

    def topics(self) -> set[str]:
        return {GROUP}

    def assignment(self) -> set[Any]:
        return set()

    def end_offsets(self, *_: object) -> dict[Any, int]:
        return {}

    def poll(self, **_: object) -> dict[Any, Any]:
        self._begun.release()
        self._ended.acquire(timeout=PATIENCE)
        return {}

    def close(self, **_: object) -> None:
        pass

    async def polls(self, state: str) -> None:
        """From the poll after the next on, the poller has seen this state."""
        self.state = state
        self._ended.release()
        assert await asyncio.to_thread(self._begun.acquire, timeout=PATIENCE)

    async def leave(self, member: KafkaMember) -> None:
        self._ended.release(1000)
        await member.leave()


def member_of(client: Client, session: float) -> KafkaMember:
    stream: Any = None
    access: Any = SimpleNamespace(
        servers="nowhere",
        prefix="",
        patience=10.0,
        session=session,
        full_name=str,
        consumer=lambda group: client,
    )
    return KafkaMember(stream, access, GROUP, GROUP)


async def test_who_has_never_been_a_member_says_so() -> None:
    client = Client()
    member = member_of(client, LONG)
    for state in (MemberState.UNJOINED, MemberState.REBALANCING):
        await client.polls(state)
        assert str(member.trouble) == f"Kafka: not a member of group {GROUP}"
    # Also a member for the time of a rebalance.
    for state in (MemberState.STABLE, MemberState.REBALANCING, MemberState.UNJOINED):
        await client.polls(state)
        await client.polls(state)
        assert member.trouble is None
    await client.leave(member)


async def test_who_is_a_member_no_longer_says_so_after_a_while() -> None:
    client = Client()
    member = member_of(client, SHORT)
    async with asyncio.timeout(PATIENCE):
        for _ in range(2):
            await client.polls(MemberState.STABLE)
        while member.trouble is None:
            await client.polls(MemberState.UNJOINED)
        assert str(member.trouble) == f"Kafka: not a member of group {GROUP}"
    await client.leave(member)
