from __future__ import annotations

import hashlib
import json
import re
from importlib import resources

import pytest
import yaml

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.capability.benchmark import BENCHMARK
from caliper.benchmarks.capability.examination import examine
from caliper.benchmarks.capability.planning import plan
from caliper.benchmarks.capability.tasks import NAMES, TASKS, Form
from caliper.core.errors import UnknownName
from caliper.core.question import Ask, Item
from caliper.core.rows import Row

FOLDER = resources.files("caliper.benchmarks.capability") / "prompts"
ANNOTATIONS: dict[Form, object] = {
    Form.TEXT: "a thing",
    Form.NUMBER: {"cup": 2},
    Form.COLOUR: {"cup": "red"},
    Form.NUMBERS: {"cup": 2},
}


def template(name: str) -> dict[str, str]:
    written = (FOLDER / f"{name.removeprefix('capability/')}.yaml").read_text("utf-8")
    loaded: dict[str, str] = yaml.safe_load(written)
    return loaded


def rendered(ask: Ask) -> str:
    gaps = re.compile("|".join(re.escape("{" + name + "}") for name in ask.fields))
    return gaps.sub(lambda gap: ask.fields[gap[0][1:-1]], template(ask.prompt)["user"])


def item(task: str) -> Item:
    annotation = ANNOTATIONS.get(TASKS[task].form, (TASKS[task].labels or ("",))[0])
    fields = {"file_id": "1", "file_path": "1", "task": task, "annotation": annotation}
    return next(plan([Row(f"{task}.jsonl", 1, fields)], PlanRequest(settings={})))


def ask_about(task: str, caption: str, **settings: str) -> Ask:
    batch = next(examine(item(task), caption, settings))
    assert isinstance(batch, tuple)
    [ask] = batch
    return ask


@pytest.mark.parametrize("labels", ["any", "one"])
@pytest.mark.parametrize("task", NAMES)
def test_every_question_has_a_prompt_without_empty_gaps(task: str, labels: str) -> None:
    ask = ask_about(task, "Two red cups.", category_labels=labels)
    text = rendered(ask)
    assert "Two red cups." in text
    for name in ("caption", "element", "object", "categories", "explanations"):
        assert "{" + name + "}" not in text
    assert text.endswith("Do not add Markdown syntax. Output:")
    shown = "a thing" in text or "{cup: 2}" in text or "{cup: red}" in text
    assert shown is (TASKS[task].form is not Form.CATEGORY)


@pytest.mark.parametrize("labels", ["any", "one"])
@pytest.mark.parametrize("task", NAMES)
def test_the_schema_of_a_reply_is_the_object_that_the_prompt_asks_for(
    task: str, labels: str
) -> None:
    """Fig. A3: the copied annotation, the score and the reason, in this order."""
    ask = ask_about(task, "Two red cups.", category_labels=labels)
    asked_for = json.loads(template(ask.prompt)["user"].splitlines()[-2])
    assert ask.schema is not None
    assert list(ask.schema["properties"]) == ask.schema["required"] == list(asked_for)
    category = TASKS[task].form is Form.CATEGORY
    assert list(asked_for) == (["pred", "reason"] if category else [task, "score", "reason"])


def test_every_template_says_where_its_words_come_from() -> None:
    sources = {
        entry.name.removesuffix(".yaml"): template(entry.name.removesuffix(".yaml"))["source"]
        for entry in FOLDER.iterdir()
    }
    printed = {name: source for name, source in sources.items() if source != "Caliper"}
    assert printed == {
        "object_number": "CAPability paper, Fig. A3",
        "camera_movement": "CAPability paper, Fig. A3",
        "caption_image": "CAPability paper, Fig. A2",
        "caption_video": "CAPability paper, Fig. A2",
    }
    assert set(NAMES) | {"qa_open", "qa_choice"} <= set(sources)


def test_object_number_is_filled_as_the_paper_prints_it() -> None:
    lines = rendered(ask_about("object_number", "A {element} {object}.")).splitlines()
    assert lines[1:3] == ["Image Caption: A {element} {object}.", "Object Number: {cup: 2}"]
    assert lines[6].startswith('{"object_number": "copy the provided {object: number} here"')


def test_camera_movement_is_filled_as_the_paper_prints_it() -> None:
    lines = rendered(ask_about("camera_movement", "It pans.", category_labels="one")).splitlines()
    assert lines[2].endswith(
        "following categories: ['left', 'right', 'up', 'down', 'in', 'out', 'fixed']"
    )
    assert lines[3] == (
        "Here are the explanations of each category: left: the camera angle swings left"
        " (pan left), or the camera moves left (track left)"
    )
    assert lines[8].endswith("makeing the subject appear smaller (zoom out)")
    assert lines[9] == "fixed: camera is almost fixed and does not change"


PRINTED = {
    "object_number": "d980c5142b1b51d7",
    "camera_movement": "52cb02226a84c34a",
    "caption_image": "1abf8e0dea84a804",
    "caption_video": "b5c963ef6d76a304",
}


@pytest.mark.parametrize(("name", "digest"), PRINTED.items())
def test_the_printed_prompts_do_not_change(name: str, digest: str) -> None:
    assert hashlib.sha256(template(name)["user"].encode()).hexdigest()[:16] == digest


@pytest.mark.parametrize("task", NAMES)
def test_a_sample_is_captioned_with_the_prompt_of_its_medium(task: str) -> None:
    name, fields = BENCHMARK.caption_prompt(task, "simple")
    video = task in ("dynamic_object_number", "action", "camera_movement", "event")
    assert name == f"capability/caption_{'video' if video else 'image'}"
    assert dict(fields) == {}
    text = template(name)["user"]
    assert text.startswith(f"Please describe the {'video' if video else 'image'} in detail.")
    assert text.endswith("in list form. Your description: ")


def test_an_unknown_caption_prompt_is_refused() -> None:
    with pytest.raises(UnknownName, match="known: simple"):
        BENCHMARK.caption_prompt("scene", "taxonomy")


def test_a_caption_prompt_needs_the_task() -> None:
    with pytest.raises(UnknownName, match="task ''; known: object_category"):
        BENCHMARK.caption_prompt("", "simple")
