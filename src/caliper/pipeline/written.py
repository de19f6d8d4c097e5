"""Questions that we wrote ourselves, to try judges and readers on, as planned items.

capability   {id, task, annotation}
captionqa    {id, domain, question, choices, answer}
comprecap    {id, phrase, things}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from caliper.benchmarks.base import PlanRequest, Settings
from caliper.benchmarks.comprecap.payloads import Atom, PhraseQuestion, SceneMeasure
from caliper.benchmarks.registry import benchmark
from caliper.core.question import Item, Question
from caliper.core.sample import Row


def written_item(name: str, question: Mapping[str, Any], settings: Settings) -> Item:
    """The item of a question of the benchmark `name`; the last of its questions is the one."""
    return _ITEMS[name](question, settings)


def _judged(question: Mapping[str, Any], settings: Settings) -> Item:
    fields = {
        "task": question["task"],
        "file_id": question["id"],
        "file_path": question["id"],
        "annotation": question["annotation"],
    }
    return _planned("capability", fields, settings)


def _chosen(question: Mapping[str, Any], settings: Settings) -> Item:
    asked = {name: question[name] for name in ("question", "choices", "answer")}
    fields = {
        "id": question["id"],
        "images": [question["id"]],
        "domain": question["domain"],
        "questions": [{**asked, "category": ["Written - Written"]}],
    }
    return _planned("captionqa", fields, settings)


def _planned(name: str, fields: Mapping[str, Any], settings: Settings) -> Item:
    request = PlanRequest(settings, captions=frozenset((fields.get("id", ""),)))
    (item,) = benchmark(name).plan([Row(f"{fields.get('task', name)}.jsonl", 1, fields)], request)
    return item


def _rated(question: Mapping[str, Any], _: Settings) -> Item:
    """A picture of one pixel, on which its first thing lies."""
    things = tuple(question["things"])
    measure = SceneMeasure(things, things, (Atom((0,), 1),), 1)
    phrase = PhraseQuestion("attribute", 0, question["phrase"], things)
    key = question["id"]
    questions: tuple[Question[Any], ...] = (Question(0, measure), Question(1, phrase))
    return Item("comprecap", key, key, key, (key,), questions)


_ITEMS: Mapping[str, Callable[[Mapping[str, Any], Settings], Item]] = {
    "capability": _judged,
    "captionqa": _chosen,
    "comprecap": _rated,
}
