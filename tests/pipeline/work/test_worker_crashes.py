import pytest

from caliper.core.envelopes import Delivery, Message
from caliper.pipeline.work.worker import Attempt, Worker, WorkerLimits
from caliper.wiring.clock import SystemClock


class OneDelivery:
    """ports.stream.Consumer with one delivery, keeping what became of it."""

    def __init__(self, delivery: Delivery) -> None:
        self.left = [delivery]
        self.fate = ""
        self.trouble = None

    async def receive(self) -> Delivery | None:
        return self.left.pop() if self.left else None

    async def acknowledge(self, delivery: Delivery) -> None:
        self.fate = "done"

    async def retry(self, delivery: Delivery) -> None:
        self.fate = "retried"

    async def dead_letter(self, delivery: Delivery, error: str) -> None:
        self.fate = error

    def drain(self) -> None:
        self.left.clear()

    async def leave(self) -> None:
        pass


@pytest.mark.parametrize(
    ("crashes", "fate", "given_up"),
    [
        (0, "done", []),
        (11, "done", []),
        (12, "CaliperError: 12 workers died while it was their only job", [b"job"]),
    ],
)
async def test_the_twelfth_crash_is_the_last(
    crashes: int, fate: str, given_up: list[bytes]
) -> None:
    consumer = OneDelivery(Delivery(Message("jobs", "a", b"job"), 0, crashes=crashes))
    handled, dropped = list[bytes](), list[bytes]()

    async def handle(attempt: Attempt) -> None:
        handled.append(attempt.data)

    async def give_up(data: bytes, error: BaseException) -> None:
        dropped.append(data)

    await Worker(consumer, handle, give_up, SystemClock(), WorkerLimits()).run()
    assert consumer.fate == fate
    assert dropped == given_up
    assert handled == ([] if given_up else [b"job"])
