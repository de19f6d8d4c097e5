"""Read samples and recorded replies from rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from caliper.benchmarks.base import RecordKey
from caliper.benchmarks.comprecap.compreqa import kind_of
from caliper.benchmarks.comprecap.questions import CompreQaQuestion, PhraseQuestion
from caliper.core.question import Item, Question, Source
from caliper.core.rows import Row


def read_samples(rows: Iterable[Row]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each picture, whose name is the sample's."""
    for row in rows:
        image = row.text("image")
        yield image, (image,)


def read_replies(rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
    """Yield recorded replies by key; rows without a response are skipped.

    Judge: `{image, kind, index, repeat, response}`, kind attribute or relation, index within
    the kind, repeat from 0. CompreQA: `{image, kind, index, response}`, kind p or cap. Raises
    InvalidInput for a row that does not identify a question, and for a duplicate.
    """
    seen = set()
    for row in rows:
        kind = kind_of(row) if source is Source.MEDIA else _phrase_kind(row)
        key = (row.text("image"), kind, str(_whole(row, "index")), str(_whole(row, "repeat")))
        if key in seen:
            raise row.error("index", f"two replies for {' '.join(key)}")
        seen.add(key)
        response = row.fields.get("response")
        if response is not None:
            yield key, str(response)


def record_key(
    item: Item, question: Question[PhraseQuestion | CompreQaQuestion], repeat: int
) -> RecordKey:
    """Return the key under which `read_replies` yields the reply to this question."""
    payload = question.payload
    if isinstance(payload, CompreQaQuestion):
        before = item.questions[: question.ordinal]
        number = sum(1 for other in before if other.payload.kind == payload.kind)
    else:
        number = payload.number
    return (item.sample, payload.kind, str(number), str(repeat))


def _phrase_kind(row: Row) -> str:
    kind = row.text("kind")
    if kind not in {"attribute", "relation"}:
        raise row.error("kind", f"expected attribute or relation, found {kind!r}")
    return kind


def _whole(row: Row, field: str) -> int:
    """Return the whole number in `field`. A missing repeat means the first."""
    value = row.fields.get(field, 0 if field == "repeat" else None)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise row.error(field, f"expected a whole number from 0, found {value!r:.60}")
    return value
