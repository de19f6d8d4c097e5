"""Expand the questions of `source/building.json` into the recorded replies of `caliper build`.

Each entry says how many of ten answers without the picture are right (`blind`), and what the two
validators answer, if not the answer as written. It needs Caliper. Run: python build_replies.py
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from caliper.building.candidates import candidate_id
from caliper.building.captionqa.blind import VOTES
from caliper.building.captionqa.taxonomies import category_of
from caliper.local.taxonomy import read_domains

SOURCE = Path(__file__).resolve().parent / "source" / "building.json"
BUILDING = Path(__file__).resolve().parents[1] / "building"
_FIELDS = ("question", "choices", "answer")
Entry = dict[str, Any]


def reply(item: str, question: int, response: str) -> Entry:
    """A recorded reply to the question with that number."""
    return {"item": item, "question": question, "response": response}


def written(entries: list[Entry]) -> Iterator[Entry]:
    """What the generator writes about each picture and category: often nothing."""
    (nodes,) = read_domains(BUILDING / "taxonomy.yaml").values()
    said: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        said[entry["image"], entry["category"]].append(entry)
    for image in dict.fromkeys(entry["image"] for entry in entries):
        for number, category in enumerate(map(category_of, nodes)):
            own = said[image, category]
            if own and "reply" in own[0]:
                yield reply(image, number, own[0]["reply"])
                continue
            questions = [{name: entry[name] for name in _FIELDS} for entry in own]
            yield reply(image, number, json.dumps({"questions": questions}, ensure_ascii=False))


def guessed(name: str, entry: Entry) -> Iterator[Entry]:
    """The answers without the picture: the right ones first, then another option."""
    other = next(choice for choice in entry["choices"] if choice != entry["answer"])
    for vote in range(VOTES):
        yield reply(name, vote, entry["answer"] if vote < entry["blind"] else other)


def replies() -> dict[str, list[Entry]]:
    """The replies of every model, by the name of its file."""
    entries = json.loads(SOURCE.read_text(encoding="utf-8"))
    found: dict[str, list[Entry]] = defaultdict(list)
    found["generator"] += written(entries)
    for entry in entries:
        if "question" in entry:
            name = candidate_id(entry["image"], *(entry[field] for field in _FIELDS))
            if "blind" in entry:
                found["blind"] += guessed(name, entry)
            answers = entry.get("validators", [entry["answer"]] * 2)
            for number, answer in enumerate(answers, start=1):
                found[f"validator_{number}"].append(reply(name, 0, answer))
    return found


if __name__ == "__main__":
    for model, rows in replies().items():
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (BUILDING / "replies" / f"{model}.jsonl").write_text("".join(lines), encoding="utf-8")
