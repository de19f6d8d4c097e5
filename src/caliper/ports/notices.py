"""Port to recipients of notices."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice


class NoticeTarget(Protocol):
    """A recipient: a webhook, a mailbox, a topic, an experiment tracker."""

    @property
    def kinds(self) -> Collection[NoticeKind]:
        """The kinds of notices to deliver."""
        ...

    async def deliver(self, notice: Notice) -> None:
        """Deliver the notice, perhaps not for the first time. If this fails, raises a CaliperError
        whose message holds no secret.
        """
        ...
