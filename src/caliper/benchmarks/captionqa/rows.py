"""Rows of CaptionQA's files: samples with their questions, captions, and recorded replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from caliper.benchmarks.base import RecordKey
from caliper.benchmarks.captionqa.domains import domain_of
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.core.question import Item, Question, Source
from caliper.core.rows import UNCOUNTED, Row

_LIST = "questions"
"""The place of a sample's list of questions, which is an entry itself if it is broken."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An unchecked question from a file. `place` identifies it within its row."""

    row: Row
    place: str
    raw: Any

    def field(self, name: str) -> str:
        """Return a field's name for error messages."""
        return f"{self.place}.{name}" if self.place else name


@dataclass(slots=True)
class RawSample:
    """A sample from a file, with unchecked questions."""

    id: str
    domain: str
    media: tuple[str, ...]
    entries: list[Entry] = field(default_factory=list)
    nested: bool = True


@dataclass(frozen=True, slots=True)
class QuestionFields:
    """The fields of a question. `answer` is the text of a choice, if the data is correct."""

    question: str
    choices: tuple[str, ...]
    answer: str
    category: str


def gather(rows: Iterable[Row]) -> list[RawSample]:
    """Group rows into samples, in order of first appearance of their ids.

    Raises InvalidInput for a missing id, an unknown domain, a duplicate id among nested rows,
    and flat rows of one id with different domains.
    """
    samples: dict[str, RawSample] = {}
    for row in rows:
        identifier = row.text("id")
        nested = row.fields.get("questions") is not None or "question" not in row.fields
        sample = samples.get(identifier)
        domain = domain_of(row)
        if sample is None:
            sample = RawSample(identifier, domain, media_of(row), nested=nested)
            samples[identifier] = sample
        elif nested or sample.nested:
            raise row.error("id", f"the id {identifier!r:.60} appears twice")
        elif sample.domain != domain:
            raise row.error(
                "domain",
                f"{domain}, but an earlier question of {identifier!r:.60} has {sample.domain}",
            )
        sample.entries.extend(_nested(row) if nested else [Entry(row, "", row.fields)])
    return list(samples.values())


def _nested(row: Row) -> list[Entry]:
    questions = row.fields.get("questions")
    if isinstance(questions, Mapping):
        questions = [questions]
    if not isinstance(questions, Sequence) or isinstance(questions, str) or not questions:
        return [Entry(row, _LIST, questions)]
    return [Entry(row, f"questions[{place}]", raw) for place, raw in enumerate(questions)]


def media_of(row: Row) -> tuple[str, ...]:
    """Return the paths of the sample's pictures, from `image_paths` or else from `images`.

    `images` may hold paths, or the objects `{path, bytes}` of the hub's parquet files.
    """
    for name in ("image_paths", "images"):
        value = row.fields.get(name)
        images = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        paths = tuple(path for path in map(_path, images) if path)
        if paths:
            return paths
    return ()


def _path(image: Any) -> str:
    path = image.get("path") if isinstance(image, Mapping) else image
    return path if isinstance(path, str) else ""


def read_entry(entry: Entry) -> QuestionFields:
    """Parse the question of an entry. Raises InvalidInput with file, line and field.

    An answer that matches no choice is not an error here; planning handles it.
    """
    raw = entry.raw
    if entry.place == _LIST:
        message = f"expected a list of questions, found {raw!r:.60}{UNCOUNTED}"
        raise entry.row.error(entry.place, message)
    if not isinstance(raw, Mapping):
        raise entry.row.error(entry.place, f"expected a question, found {raw!r:.60}")
    question = raw.get("question")
    if not isinstance(question, str) or not question.strip():
        raise entry.row.error(entry.field("question"), f"expected text, found {question!r:.60}")
    choices = raw.get("choices")
    if not isinstance(choices, Sequence) or isinstance(choices, str):
        raise entry.row.error(entry.field("choices"), f"expected a list, found {choices!r:.60}")
    texts = []
    for place, choice in enumerate(choices):
        text = _plain(choice)
        if text is None:
            raise entry.row.error(
                entry.field(f"choices[{place}]"), f"expected text, found {choice!r:.60}"
            )
        texts.append(text)
    return QuestionFields(question, tuple(texts), _plain(raw.get("answer")) or "", _category(raw))


def _plain(value: Any) -> str | None:
    """Convert text or a number to text; None for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def _category(raw: Mapping[str, Any]) -> str:
    """Return the first full category, "Top - Sub"; empty if there is none."""
    value = raw.get("category")
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return next((text.strip() for text in values if isinstance(text, str) and text.strip()), "")


def read_samples(rows: Iterable[Row]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the id of each row's sample, with its pictures."""
    for row in rows:
        yield row.text("id"), media_of(row)


def read_replies(rows: Iterable[Row], source: Source) -> Iterator[tuple[RecordKey, str]]:
    """Yield recorded replies `{id: [{question, model_response, ...}]}`, the released format.

    Equal question texts of a sample are numbered in order, across all files. Null and absent
    replies are skipped. Raises InvalidInput for any other format.
    """
    del source  # Replies about captions and images have one format.
    seen: Counter[tuple[str, str]] = Counter()
    for row in rows:
        sample, entries = row.text("key"), row.fields.get("value")
        if not isinstance(entries, list):
            raise row.error(sample, f"expected a list of replies, found {entries!r:.60}")
        for place, entry in enumerate(entries):
            question, reply = _reply(row, f"{sample}[{place}]", entry)
            nth = seen[sample, question]
            seen[sample, question] += 1
            if reply is not None:
                yield (sample, question, str(nth)), reply


def _reply(row: Row, field: str, entry: Any) -> tuple[str, str | None]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("question"), str):
        raise row.error(field, f"expected an object with a question, found {entry!r:.60}")
    reply = entry.get("model_response")
    if isinstance(reply, int) and not isinstance(reply, bool):
        reply = str(reply)
    if reply is not None and not isinstance(reply, str):
        raise row.error(f"{field}.model_response", f"expected text, found {reply!r:.60}")
    return entry["question"].strip(), reply


def record_key(item: Item, question: Question[ChoiceQuestion], repeat: int) -> RecordKey:
    """Return the sample, the question's text, and the number of earlier equal questions.

    Recordings have no repeats: all repeats share one reply.
    """
    del repeat
    text = question.payload.question.strip()
    nth = sum(
        earlier.payload.question.strip() == text
        for earlier in item.questions
        if earlier.ordinal < question.ordinal
    )
    return item.sample, text, str(nth)
