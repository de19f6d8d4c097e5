"""Results of the lexical judge, and the replies that an LLM would give for them."""

from __future__ import annotations

import json
from dataclasses import dataclass

RIGHT, WRONG, SILENT = 1, -1, 0
NOT_STATED = "N/A"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of an open task: 1 right, -1 wrong, 0 not mentioned (paper 3.2), and why."""

    score: int
    reason: str


@dataclass(frozen=True, slots=True)
class Labels:
    """The categories that a caption states; empty means "N/A" (paper Fig. A3)."""

    labels: tuple[str, ...]
    reason: str


def open_reply(task: str, annotation: str, finding: Judgement) -> str:
    """The JSON of Fig. A3 for an open task: the copied annotation, the score, the reason."""
    return json.dumps({task: annotation, "score": str(finding.score), "reason": finding.reason})


def category_reply(result: Labels) -> str:
    """The JSON of Fig. A3 for a category task, as a list (the released prompts)."""
    return json.dumps({"pred": list(result.labels) or [NOT_STATED], "reason": result.reason})
