"""People who label tasks in Label Studio, and its exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

Person = Callable[[Mapping[str, Any]], str | None]
"""What a person chooses for a task's data; None skips it."""


def annotation(number: int, person: object, choice: str | None) -> dict[str, Any]:
    """An annotation as Label Studio exports it."""
    chosen = {
        "id": f"r{number}",
        "from_name": "label",
        "to_name": "caption",
        "type": "choices",
        "value": {"choices": [choice]},
        "origin": "manual",
    }
    return {
        "id": number,
        "completed_by": person,
        "result": [] if choice is None else [chosen],
        "was_cancelled": choice is None,
        "ground_truth": False,
        "created_at": "2026-11-26T06:10:16.000000Z",
        "lead_time": 4.2,
    }


def export(tasks: Iterable[Path], people: Mapping[object, Person], path: Path) -> list[Any]:
    """Let everybody label all tasks, and write Label Studio's JSON to `path`."""
    given = [task for file in tasks for task in json.loads(file.read_text())]
    values = [
        {
            "id": place + 1,
            **task,
            "annotations": [
                annotation(100 * place + number, person, chooses(task["data"]))
                for number, (person, chooses) in enumerate(people.items())
            ],
        }
        for place, task in enumerate(given)
    ]
    path.write_text(json.dumps(values))
    return values
