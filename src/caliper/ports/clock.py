"""Port to the clock. No reported value depends on it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time of day for records, monotonic time for durations, and waiting."""

    def now(self) -> datetime:
        """The current time in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment; never goes backwards."""
        ...

    async def sleep(self, seconds: float) -> None: ...
