"""Port to those who are told what happens to checkpoints."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice


class NoticeTarget(Protocol):
    """Somebody who is told: a webhook, a mailbox, a topic, a tracker of experiments."""

    @property
    def kinds(self) -> Collection[NoticeKind]:
        """What it is told."""
        ...

    async def deliver(self, notice: Notice) -> None:
        """Hand the notice over; it may have come before. Raises a CaliperError, whose message
        holds no secret, if it was not taken.
        """
        ...
