"""Recorded replies instead of a model, for tests and for scoring again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from caliper.benchmarks.base import RecordKey
from caliper.benchmarks.benchmark import Benchmark
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest
from caliper.core.outcome import Reason
from caliper.core.question import Answer, Ask, Failure, Reply, Source
from caliper.core.rows import Row
from caliper.core.run import RECORDED, Identity, recorded_identity


@dataclass(frozen=True, slots=True)
class RecordedReplies:
    """The recorded replies of one benchmark by key. `digest` is the digest of their files."""

    benchmark: Benchmark
    replies: Mapping[RecordKey, str]
    digest: str


def record(
    benchmark: Benchmark, rows: Iterable[Row], source: Source, files_digest: str
) -> RecordedReplies:
    """Read a recording from `rows`; `files_digest` is the digest of their files.

    Raises InvalidInput, with file and line, if two rows answer the same question.
    """
    tracked = _TrackedRows(rows)
    replies: dict[RecordKey, str] = {}
    for key, text in benchmark.read_replies(tracked, source):
        if key in replies:
            raise tracked.wrong(f"a second recorded reply for {_key_label(key)}")
        replies[key] = text
    return RecordedReplies(benchmark, replies, files_digest)


class ReplayAnswerer:
    """Answers with recorded replies; `recordings` are keyed by benchmark name.

    The same question always gets the same reply. The identity contains no path: its revision is
    the digest of the recorded files, and its name that of the `model` that replied.
    """

    def __init__(self, recordings: Mapping[str, RecordedReplies], model: str = RECORDED) -> None:
        self._recordings = recordings
        digests = {name: recording.digest for name, recording in recordings.items()}
        self._identity = recorded_identity(digest(digests), model)

    @property
    def identity(self) -> Identity:
        """Of the kind `replay`. Not cached, because caching would save nothing."""
        return self._identity

    async def answer(self, ask: Ask) -> Answer:
        """The recorded reply, or Failure(no_reply) if there is none."""
        recording = self._recordings.get(ask.item.benchmark)
        if recording is None:
            return Failure(Reason.NO_REPLY, f"no recorded replies for {ask.item.benchmark}")
        key = recording.benchmark.record_key(ask.item, ask.question, ask.repeat)
        text = recording.replies.get(key)
        if text is None:
            label = f"{ask.item.benchmark} / {_key_label(key)}"
            return Failure(Reason.NO_REPLY, f"no recorded reply for {label}")
        return Reply(text)

    async def close(self) -> None:
        """Does nothing: no resources are open."""


class _TrackedRows:
    """An iterable of rows that remembers the last row read, for error messages."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = rows
        self._last: Row | None = None

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self._last = row
            yield row

    def wrong(self, message: str) -> InvalidInput:
        if self._last is None:
            return InvalidInput(message)
        return InvalidInput(message, file=self._last.file, line=self._last.line)


def _key_label(key: RecordKey) -> str:
    return " / ".join(key)
