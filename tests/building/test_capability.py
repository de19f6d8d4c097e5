"""Annotations of CAPability: format rules, merge, draw, balance, and the files for people's use."""

import json
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.building.test_candidates import rows

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.capability.planning import plan
from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.benchmarks.capability.tasks import NAMES, TASKS, Form, Medium
from caliper.building.balance import balance
from caliper.building.candidates import Candidate
from caliper.building.capability.annotations import (
    annotation,
    check_annotations,
    credit_annotator,
    edit_annotation,
    editable_fields,
    heading,
    read_annotations,
)
from caliper.building.capability.kind import CAPABILITY
from caliper.building.capability.media import ListedMedium, draw_media, media_of_dimensions
from caliper.building.capability.merge import (
    MOST_OBJECTS,
    draw_elements,
    lists_to_merge,
    merge_annotations,
    same_elements,
)
from caliper.building.capability.replies import instruction, read_listing, read_synonyms
from caliper.building.kinds import CandidateEdit
from caliper.building.steps import keep_all
from caliper.core.errors import InvalidInput
from caliper.core.question import Source
from caliper.core.rows import Row

VALUES = st.sampled_from(["cup", "red cup", "A cup.", "box", "saucer", "tea"])


def said(task: str, value: str, name: str = "", who: str = "ana", path: str = "a.jpg") -> Candidate:
    return credit_annotator(annotation(TASKS[task], path, value, name), who)


@st.composite
def annotations(draw: st.DrawFn) -> Candidate:
    task = TASKS[draw(st.sampled_from(NAMES))]
    value = draw(VALUES)
    if task.labels:
        value = draw(st.sampled_from(task.labels))
    elif task.form in (Form.NUMBER, Form.NUMBERS):
        value = str(draw(st.integers(1, 40)))
    ending = "mp4" if task.media is Medium.VIDEO else "jpg"
    path = f"{draw(st.sampled_from('abc'))}.{ending}"
    return credit_annotator(
        annotation(task, path, value, draw(VALUES)), draw(st.sampled_from(["ana", "ben", "cem"]))
    )


SETS = st.lists(annotations(), max_size=40)


def kept(found: Iterable[Candidate], seed: int = 0) -> list[Candidate]:
    """The candidates of these annotations that all steps keep."""
    formats = check_annotations(found)
    merged = merge_annotations(fate.candidate for fate in formats if not fate.dropped)
    drawn = draw_elements([fate for fate in merged if not fate.dropped], seed)
    return [fate.candidate for fate in drawn if not fate.dropped]


@pytest.mark.parametrize(
    ("candidate", "dropped", "answer"),
    [
        (said("scene", "  a  kitchen "), "", "a kitchen"),
        (said("style", "Pixel Art."), "", "pixel art"),
        (said("style", "baroque"), "value is not one of the categories", "baroque"),
        (said("object_number", "007", "dog"), "", "7"),
        (said("object_number", "some", "dog"), "value is not a number", "some"),
        (said("object_number", "0", "dog"), "value is not a number", "0"),
        (said("OCR", "N/A"), "annotation without content", "N/A"),
        (said("OCR", "NONE"), "", "NONE"),
        (said("scene", "Unknown."), "annotation without content", "Unknown."),
    ],
)
def test_formats(candidate: Candidate, dropped: str, answer: str) -> None:
    (fate,) = check_annotations([candidate])
    assert (fate.dropped, fate.candidate.answer) == (dropped, answer)


def test_an_annotator_says_an_element_once() -> None:
    twice = [said("object_category", "cup"), said("object_category", "A cup")]
    scenes = [said("scene", "n/a"), said("scene", "street"), said("scene", "kitchen")]
    found = check_annotations([*twice, *scenes, said("scene", "street", who="ben")])
    assert [fate.dropped != "" for fate in found] == [False, True, True, False, True, False]


def test_what_two_annotators_agree_on_is_accepted_and_the_rest_is_for_people() -> None:
    agreed = [said("object_color", "red", "Cup"), said("object_color", "Red.", "the cup", "ben")]
    split = [
        said("object_color", "red", "box"),
        said("object_color", "blue", "box", "ben"),
        said("object_color", "blue", "box", "cem"),
    ]
    fates = merge_annotations([*agreed, *split, said("scene", "street")])
    stay = [fate for fate in fates if not fate.dropped]
    assert [(fate.candidate.answer, fate.decision) for fate in stay] == [
        ("red", "accept"),
        ("blue", "review"),
        ("street", "review"),
    ]
    assert stay[1].reasons == ("ana: red", "ben: blue", "cem: blue")
    assert stay[2].reasons == ("ana: street", "one annotator only")
    assert len(fates) == 6


def test_what_only_a_model_holds_for_the_same_is_for_people() -> None:
    found = [
        said("object_category", "cup"),
        said("object_category", "box"),
        said("object_category", "A mug.", who="ben"),
        said("object_number", "2", "cup"),
        said("object_number", "3", "mugs", "ben"),
        said("object_number", "3", "mugs", "cem"),
        said("scene", "street"),
        said("scene", "road", who="ben"),
        said("OCR", "STOP", path="b.jpg"),
        said("OCR", "EXIT", path="b.jpg"),
    ]
    lists = lists_to_merge(found)
    assert lists == {
        "a.jpg": {"object_category": ["cup", "box", "A mug."], "object_number": ["cup", "mugs"]}
    }
    reply = '{"groups": [{"same": ["a cup", "Mug", "moon"]}, {"same": ["box", "mug"]}, {}]}'
    counted = '{"groups": [{"same": ["cup", "mugs"]}]}'
    listed = read_synonyms(reply, "a.jpg", "object_category", 9)
    numbered = read_synonyms(counted, "a.jpg", "object_number", 9)
    assert listed
    assert numbered
    assert listed.unusable == 1
    same = same_elements(found, (*listed.candidates, *numbered.candidates))
    fates = merge_annotations(found, same, "m")
    objects, numbers = (
        [fate for fate in fates if fate.candidate.category == name] for name in lists["a.jpg"]
    )
    assert [fate.dropped for fate in objects] == ["", "same element in other words", ""]
    assert objects[0].reasons == ("ana: cup", "ben: A mug.", "merged by m")
    assert objects[1].detail == "cup stays"
    assert [(fate.candidate.answer, fate.detail) for fate in numbers if fate.dropped] == [
        ("2", "mugs stays"),
        ("3", "3 stays"),
    ]
    (kept,) = (fate for fate in numbers if not fate.dropped)
    assert (kept.decision, kept.reasons[0]) == ("review", "ana: cup: 2")


def test_no_model_merges_what_one_annotator_holds_apart() -> None:
    found = [
        said("object_category", "cup"),
        said("object_category", "saucer"),
        said("object_category", "mug", who="ben"),
        said("object_category", "saucer", who="ben"),
        said("object_category", "plate", who="cem"),
    ]
    reply = '{"groups": [{"same": ["cup", "saucer", "mug", "plate", "unicorn"]}]}'
    listed = read_synonyms(reply, "a.jpg", "object_category", 9)
    assert listed
    fates = merge_annotations(found, same_elements(found, listed.candidates), "m")
    stay = [fate.candidate.answer for fate in fates if not fate.dropped]
    assert stay == ["cup", "saucer"]


@given(SETS, st.integers(0, 3))
def test_one_element_represents_all(found: list[Candidate], seed: int) -> None:
    drawn = kept(found, seed)
    counts = Counter((each.image, each.category) for each in drawn)
    assert counts.keys() == {(each.image, each.category) for each in found}
    for (_, task), count in counts.items():
        assert count <= (MOST_OBJECTS if TASKS[task].form is Form.NUMBERS else 1)


def test_the_draw_is_even_and_does_not_depend_on_the_order() -> None:
    names = [f"thing {letter}" for letter in "abcd"]
    first = Counter[str]()
    for number in range(200):
        elements = [said("object_category", name, path=f"{number}.jpg") for name in names]
        (drawn,) = kept(elements)
        assert [drawn.answer] == [each.answer for each in kept(reversed(elements))]
        first[drawn.answer] += 1
    assert all(25 < first[name] < 75 for name in names)


def test_frequent_values_give_way_to_rare_ones() -> None:
    angles = ["level angle"] * 8 + ["high angle"] * 2 + ["dutch angle"]
    found = [said("camera_angle", value, path=f"{n}.jpg") for n, value in enumerate(angles)]
    fates = balance(keep_all(found), 5, 0, CAPABILITY.share)
    left = Counter(fate.candidate.answer for fate in fates if not fate.dropped)
    assert left == {"level angle": 2, "high angle": 2, "dutch angle": 1}


def test_dimensions_get_media_of_their_kind_spread_over_tags() -> None:
    media = [ListedMedium(f"{n}.jpg", tags=("web" if n else "film",)) for n in range(5)]
    media += [ListedMedium("b.mp4"), ListedMedium("s.jpg", frozenset({"style"}))]
    fates = draw_media(media_of_dimensions(media, ("OCR", "event"), {"b.mp4"}), 2, 0)
    left = [fate.candidate for fate in fates if not fate.dropped]
    assert Counter(each.category for each in left) == {"OCR": 2, "event": 1}
    assert {each.answer for each in left if each.category == "OCR"} == {"film", "web"}


def official(found: Iterable[Candidate]) -> dict[str, list[Row]]:
    texts = CAPABILITY.files(list(found), {"settings": {"seed": 0}})
    return {
        path: [Row(path, line, json.loads(text)) for line, text in enumerate(lines.splitlines(), 1)]
        for path, lines in texts.items()
    }


@given(SETS)
def test_the_files_are_planned_and_every_question_joins_its_annotation(
    found: list[Candidate],
) -> None:
    accepted = kept(found)
    written = official(accepted)
    data, questions = (
        [row for path, own in written.items() if path.startswith(f"{folder}/") for row in own]
        for folder in ("capability", "capability_qa")
    )
    items = list(plan(data, PlanRequest({}, qa_rows=questions)))
    asked = [question for item in items for question in item.questions]
    assert not [question.note for question in asked if question.unscored]
    elements = [each.payload for each in asked if isinstance(each.payload, ElementQuestion)]
    about = [each.payload for each in asked if isinstance(each.payload, MediaQuestion)]
    assert len(elements) == len(about) == len(accepted)
    assert len({each.joins for each in about}) == len(accepted)
    by_key = {item.key: item for item in items if item.source is Source.CAPTION}
    for each in about:
        assert each.joins is not None
        key, ordinal = each.joins
        element = by_key[key].questions[ordinal].payload
        assert element.object in each.question
        right = [text for text in each.options if text.startswith(f"{each.answer}. ")]
        if TASKS[each.task].labels or element.element.isdecimal():
            assert right == [f"{each.answer}. {element.element}"]
            assert len(set(each.options)) == 4
    # Items that share a caption are about one clip.
    samples = {(item.sample, item.media) for item in by_key.values()}
    assert len(samples) == len({sample for sample, _ in samples})


def test_edits() -> None:
    color = said("object_color", "red", "cup")
    assert heading(color) == "Object color: cup"
    assert edit_annotation(color, CandidateEdit("", (), " dark  red")).answer == "dark red"
    style = said("style", "realistic")
    assert (heading(style), style.choices) == ("Style", TASKS["style"].labels)
    assert edit_annotation(style, CandidateEdit("", style.choices, "sketch art")).id == style.id
    for answer, told in (
        ("x" * 3000, "longer than 2,000"),
        ("baroque", "not one of the categories"),
    ):
        with pytest.raises(InvalidInput, match=told):
            edit_annotation(style, CandidateEdit("", style.choices, answer))
    assert [editable_fields(said(task, "cup")) for task in ("object_category", "scene")] == [
        (),
        ("answer",),
    ]


def test_what_a_model_lists() -> None:
    assert "- dutch angle: " in instruction(TASKS["camera_angle"])
    reply = '```json\n{"elements": [{"object": "cup", "value": 2}, {"value": "3"}, "no"]}\n```'
    written = read_listing(reply, "a.jpg", "object_number", 5)
    assert written is not None
    assert [(each.question, each.answer) for each in written.candidates] == [("cup", "2")]
    assert written.unusable == 2
    assert read_listing("a cup", "a.jpg", "object_category", 5) is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"task": "smell"}, "task: unknown task 'smell'"),
        ({"file_path": "lost.jpg"}, "file_path: no such medium: 'lost.jpg'"),
        ({"annotation": None}, "annotation: expected text, found None"),
        ({"task": "object_color"}, "annotation: expected one object with its colour, found 'cup'"),
        ({"task": "object_color", "annotation": {"cup": None}}, "annotation: expected one object"),
        ({"annotator": 1.5}, "annotator: expected text, found 1.5"),
    ],
)
def test_a_wrong_row_is_named(fields: dict[str, object], told: str) -> None:
    good = {"task": "object_category", "file_path": "a.jpg", "annotation": "cup"}
    with pytest.raises(InvalidInput) as caught:
        list(read_annotations(rows(json.dumps({**good, **fields}) + "\n"), {"a.jpg"}, NAMES))
    assert f":1: {told}" in str(caught.value)
