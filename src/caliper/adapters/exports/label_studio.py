"""Tasks for Label Studio: captions, questions and verdicts for people to check.

A task file is Label Studio's JSON, to import into a project whose labeling interface is the XML
beside it. Captions are untrusted: they are in the tasks only, never in the XML, and in `Text` tags,
which show text and no HTML. Media are URLs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

from caliper.analysis.label_sample import Doubt, confidence_of
from caliper.pipeline.comparing.question_verdicts import QuestionVerdicts

LABEL = "label"
"""The name of the control that people use."""
_CAPTION = "caption"


@dataclass(frozen=True, slots=True)
class LabelTask:
    """A question to ask people about the verdict of the run with the id `run`.

    `kind` is that of its media (image, video or text), `urls` where they are. `probability` is that
    with which it was drawn at random, None if it was chosen.
    """

    question: QuestionVerdicts
    caption: str
    run: str
    kind: str
    urls: tuple[str, ...]
    doubts: tuple[Doubt, ...] = ()
    probability: float | None = None


def label_studio_files(tasks: Iterable[LabelTask]) -> dict[str, str]:
    """The texts of files by name: `BENCHMARK-KIND.json` and `.xml`, as pictures and clips need
    interfaces of their own.
    """
    groups: dict[tuple[str, str], list[LabelTask]] = {}
    for task in tasks:
        groups.setdefault((task.question.first.benchmark, task.kind), []).append(task)
    texts = {}
    for (name, kind), group in sorted(groups.items()):
        words = {word: score for task in group for word, score in task.question.words.items()}
        values = [_task(task) for task in group]
        texts[f"{name}-{kind}.json"] = json.dumps(values, ensure_ascii=False, indent=1) + "\n"
        texts[f"{name}-{kind}.xml"] = interface_of(
            kind, sorted(words, key=lambda word: words[word])
        )
    return texts


def _task(task: LabelTask) -> dict[str, Any]:
    question, row = task.question, task.question.first
    media: dict[str, Any] = {}
    if task.kind == "video":
        media = {"video": task.urls[0]}
    elif task.kind == "image":
        media = {"images": list(task.urls)}
    choice = {
        "id": "verdict",
        "from_name": LABEL,
        "to_name": _CAPTION,
        "type": "choices",
        "value": {"choices": [question.word]},
    }
    return {
        "data": {
            **media,
            "caption": task.caption,
            "question": row.question,
            "expected": row.expected,
            "dimension": row.dimension,
            "verdict": question.word,
            "doubts": [str(doubt) for doubt in task.doubts],
            "probability": task.probability,
            "run": task.run,
            "question_id": row.question_id,
        },
        "predictions": [
            {
                "model_version": row.judge,
                "score": confidence_of(task.doubts),
                "result": [choice],
            }
        ],
    }


_MEDIA_TAGS = {
    "image": '<Image name="image" valueList="$images" zoom="true"/>',
    "video": '<Video name="video" value="$video"/>',
}
_TEXTS = {"caption": "Caption", "question": "Question", "expected": "Expected answer"}


def interface_of(kind: str, words: Iterable[str]) -> str:
    """The labeling interface for tasks with these media and words, in Label Studio's XML."""
    lines = [_MEDIA_TAGS[kind]] if kind in _MEDIA_TAGS else []
    for name, head in _TEXTS.items():
        lines += [f'<Header value="{head}"/>', f'<Text name="{name}" value="${name}"/>']
    lines.append('<Header value="Verdict on the caption"/>')
    lines.append(f'<Choices name="{LABEL}" toName="{_CAPTION}" choice="single" required="true">')
    lines += [f"  <Choice value={quoteattr(word)}/>" for word in words]
    lines.append("</Choices>")
    return "\n".join(["<View>", *(f"  {line}" for line in lines), "</View>"]) + "\n"
