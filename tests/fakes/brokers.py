"""A broker in memory that refuses messages, and publishers with wrong clocks."""

from datetime import datetime, timedelta

from tests.fakes.clock import FakeClock

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.envelopes import Message
from caliper.core.errors import StreamUnavailable
from caliper.pipeline.planning.publisher import RUNS, VERDICTS


class Broker(MemoryStream):
    """Delivers `left` more messages and then refuses them; all of them if `left` is None. The
    clocks of publishers are `ahead` by some seconds.
    """

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(logs=(VERDICTS, RUNS), now=self._time)
        self._clock = clock
        self.left: int | None = None
        self.ahead = 0

    def _time(self) -> datetime:
        return self._clock.now() + timedelta(seconds=self.ahead)

    async def publish(self, message: Message) -> None:
        if self.left == 0:
            raise StreamUnavailable("the broker is away")
        self.left = None if self.left is None else self.left - 1
        await super().publish(message)
