"""A cache of a suite's entries for a process that looks at them again and again.

Each look reads the open entries, and one page of the decided ones, which may be many thousands. A
change in an old one is seen when its page comes.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from caliper.core.checkpoints import UnreadableEntry
from caliper.pipeline.suites.registry import StoredEntry, SuiteRegistry

PAGE = 200
"""Number of decided entries that a look reads."""


class EntryHistory:
    """The entries of suites in a registry. Decided ones hold headlines only, and no findings."""

    def __init__(self, registry: SuiteRegistry) -> None:
        self._registry = registry
        self._entries: dict[str, dict[str, StoredEntry | UnreadableEntry]] = {}
        self._next: dict[str, int] = {}

    async def entries(
        self, suite: str, version: str = ""
    ) -> tuple[list[StoredEntry], list[UnreadableEntry]]:
        """Like `SuiteRegistry.entries`. Raises StoreUnavailable."""
        keys = await self._registry.keys(suite)
        before = self._entries.get(suite, {})
        self._entries[suite] = present = {key: before[key] for key in keys if key in before}
        settled = [key for key in keys if _is_settled(present.get(key))]
        first = self._next.get(suite, 0)
        if first >= len(settled):
            first = 0
        page = set(settled[first : first + PAGE])
        self._next[suite] = first + PAGE
        due = [key for key in keys if key in page or not _is_settled(present.get(key))]
        read = self._registry.read_or_name
        entries = await asyncio.gather(*(read(key, _stored(present.get(key))) for key in due))
        for key, each in zip(due, entries, strict=True):
            if each is None:
                present.pop(key, None)
            else:
                present[key] = _slim(each)
        every = [each for key, each in present.items() if not version or f"/{version}/" in key]
        stored = [each for each in every if isinstance(each, StoredEntry)]
        unreadable = [each for each in every if isinstance(each, UnreadableEntry)]
        return sorted(stored, key=lambda each: each.entry.order), unreadable


def _stored(entry: StoredEntry | UnreadableEntry | None) -> StoredEntry | None:
    return entry if isinstance(entry, StoredEntry) else None


def _is_settled(entry: StoredEntry | UnreadableEntry | None) -> bool:
    return isinstance(entry, StoredEntry) and not entry.entry.is_open


def _slim(each: StoredEntry | UnreadableEntry) -> StoredEntry | UnreadableEntry:
    if isinstance(each, UnreadableEntry) or each.entry.is_open:
        return each
    entry = each.entry
    headlines = tuple(figure for figure in entry.figures if figure.is_headline)
    return replace(each, entry=replace(entry, figures=headlines, findings=()))
