"""A topic of the job stream as a target: each notice is a message of JSON."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from caliper.adapters.notices.bodies import TYPE_PREFIX, event_body
from caliper.core.envelopes import Message
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice
from caliper.ports.stream import JobStream

SUITE_EVENTS = "suite-events"


@dataclass(frozen=True, slots=True)
class TopicTarget:
    """ports.notices.NoticeTarget. The key is the checkpoint's revision, the headers `id` and
    `type` are those of the notice.
    """

    stream: JobStream
    kinds: Collection[NoticeKind] = frozenset(NoticeKind)

    async def deliver(self, notice: Notice) -> None:
        """Publish the notice. Raises StreamUnavailable."""
        headers = {"id": notice.id, "type": f"{TYPE_PREFIX}{notice.kind}"}
        await self.stream.publish(
            Message(SUITE_EVENTS, notice.revision, event_body(notice), headers)
        )
