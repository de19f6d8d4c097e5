"""What people supply: captions, and replies that were recorded earlier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from caliper.benchmarks.base import RecordKey
from caliper.benchmarks.captionqa.payloads import ChoiceQuestion
from caliper.core.question import Item, Question, Source
from caliper.core.sample import Row


def read_captions(rows: Iterable[Row]) -> Iterator[tuple[str, str | None]]:
    """(id, text) of a caption file `{id: text}`; null stands for none.

    Raises InvalidInput for a caption that is no text, and for an id that appears twice.
    """
    seen: set[str] = set()
    for row in rows:
        sample, text = row.text("key"), row.fields.get("value")
        if sample in seen:
            raise row.wrong(sample, "the id appears twice")
        if text is not None and not isinstance(text, str):
            raise row.wrong(sample, f"expected a caption, found {text!r:.60}")
        seen.add(sample)
        yield sample, text


def recorded(rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
    """Recorded replies `{id: [{question, model_response, ...}]}`, as the released script has them.

    Equal question texts of a sample are counted in order, over all files. A null or absent
    reply is left out. Raises InvalidInput for what has another form.
    """
    del source  # Replies about captions and images have one format.
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        sample, entries = row.text("key"), row.fields.get("value")
        if not isinstance(entries, list):
            raise row.wrong(sample, f"expected a list of replies, found {entries!r:.60}")
        for place, entry in enumerate(entries):
            question, reply = _reply(row, f"{sample}[{place}]", entry)
            nth = seen[sample, question]
            seen[sample, question] += 1
            if reply is not None:
                yield (sample, question, str(nth)), reply


def _reply(row: Row, field: str, entry: Any) -> tuple[str, str | None]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("question"), str):
        raise row.wrong(field, f"expected an object with a question, found {entry!r:.60}")
    reply = entry.get("model_response")
    if isinstance(reply, int) and not isinstance(reply, bool):
        reply = str(reply)
    if reply is not None and not isinstance(reply, str):
        raise row.wrong(f"{field}.model_response", f"expected text, found {reply!r:.60}")
    return entry["question"].strip(), reply


def record_key(item: Item, question: Question[ChoiceQuestion], repeat: int) -> RecordKey:
    """The sample, the question's text, and how many questions before it have the same text.

    A recording does not know repeats: it answers each of them.
    """
    del repeat
    text = question.payload.question.strip()
    nth = sum(
        earlier.payload.question.strip() == text
        for earlier in item.questions
        if earlier.ordinal < question.ordinal
    )
    return item.sample, text, str(nth)
