"""Port to time. Nothing that is reported depends on it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time of day for records, monotonic time for durations, and waiting."""

    def now(self) -> datetime:
        """The time in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None: ...
