from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.comprecap.masks import PICTURE_LIMIT
from caliper.benchmarks.comprecap.planning import plan
from caliper.benchmarks.comprecap.questions import Atom, PhraseQuestion, SceneMeasure
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Item, Source
from caliper.core.rows import UNCOUNTED, Row

Info = list[dict[str, Any]]


def planned(info: Any, **settings: str) -> Item:
    row = Row("anno.json", 7, {"image": "park.jpg", "info": info})
    return next(plan([row], PlanRequest(settings)))


def test_a_picture_has_the_measure_then_instances_then_relations(item: Item) -> None:
    assert (item.key, item.sample, item.cluster, item.media) == (
        "park.jpg",
        "park.jpg",
        "park.jpg",
        ("park.jpg",),
    )
    assert [question.payload for question in item.questions] == [
        SceneMeasure(
            ("dog", "frisbee"),
            ("dog", "frisbee"),
            (Atom((0,), 3), Atom((0, 1), 1), Atom((1,), 1)),
            10,
        ),
        PhraseQuestion("attribute", 0, "a brown dog", ("dog",)),
        PhraseQuestion("attribute", 1, "a white frisbee", ("frisbee",)),
        PhraseQuestion("relation", 0, "The dog catches the frisbee", ("dog", "frisbee")),
        PhraseQuestion("relation", 1, "The dog stands on the carpet", ("dog",)),
    ]
    assert [question.repeats for question in item.questions] == [1, 2, 2, 2, 2]


def test_phrases_are_scored_three_times_where_nobody_says(info: Info) -> None:
    assert [question.repeats for question in planned(info).questions] == [1, 3, 3, 3, 3]


def test_instances_of_one_category_are_asked_one_by_one(info: Info) -> None:
    item = planned([info[0], info[0] | {"relation": []}])
    measure = item.questions[0].payload
    assert (measure.categories, measure.instances) == (("dog",), ("dog", "dog"))
    assert len(item.questions) == 5


@pytest.mark.parametrize(("match", "mentions"), [("word", ("dog",)), ("substring", ("dog", "car"))])
def test_a_category_is_named_as_a_word_or_anywhere(
    info: Info, match: str, mentions: tuple[str, ...]
) -> None:
    item = planned([info[0], info[1] | {"category": "car"}], relation_match=match)
    assert item.questions[4].payload.mentions == mentions


def test_the_longer_description_can_be_chosen(info: Info) -> None:
    item = planned(info, description="extend")
    assert item.questions[1].payload.phrase == "a brown dog with a red collar"


@pytest.mark.parametrize("relation", ["The dog runs", ["The dog runs"]])
def test_one_relation_may_be_a_text(info: Info, relation: Any) -> None:
    item = planned([info[0] | {"relation": relation}])
    assert [question.payload.phrase for question in item.questions[2:]] == ["The dog runs"]


@pytest.mark.parametrize("relation", [None, "", [], [" "]])
def test_an_instance_may_have_no_relation(info: Info, relation: Any) -> None:
    assert len(planned([info[0] | {"relation": relation}]).questions) == 2


@pytest.mark.parametrize("mask", [None, "rubbish!", "eJwDAAAAAAE="])
def test_a_broken_mask_leaves_the_picture_without_scores(info: Info, mask: Any) -> None:
    item = planned([info[0], info[1] | {"mask_out": mask}])
    assert len(item.questions) == 5
    for question in item.questions:
        assert question.unscored is Reason.BAD_INPUT
        assert question.note.startswith("anno.json:7: info[1].mask_out: ")


def test_a_mask_of_another_size_is_named(info: Info, mask_out: Any) -> None:
    item = planned([info[0], info[1] | {"mask_out": mask_out([1] * 9)}])
    assert item.questions[0].unscored is Reason.BAD_INPUT
    assert "info[1].mask_out" in item.questions[0].note
    assert "9 pixels" in item.questions[0].note


def test_a_picture_of_many_large_masks_is_refused_at_the_first(info: Info, mask_out: Any) -> None:
    wide = info[0] | {"mask_out": mask_out(bytes(PICTURE_LIMIT // 9))}
    item = planned([wide] + [wide | {"mask_out": "never looked at"}] * 9)
    assert item.questions[0].unscored is Reason.BAD_INPUT
    assert item.questions[0].note == (
        "anno.json:7: info: 10 masks of 29826161 pixels are more than 268435456 pixels"
    )


def test_masks_that_overlap_in_every_way_are_bad_input(info: Info, mask_out: Any) -> None:
    every = np.arange(1 << 17)
    noise = [info[0] | {"mask_out": mask_out((every >> bit & 1).tolist())} for bit in range(17)]
    question = planned(noise).questions[0]
    assert question.unscored is Reason.BAD_INPUT
    assert question.note == "anno.json:7: info: the 17 masks overlap in more than 61680 ways"


def test_masks_that_cover_nothing_are_bad_input(info: Info, mask_out: Any) -> None:
    item = planned([info[0] | {"mask_out": mask_out([0] * 10)}])
    assert item.questions[0].unscored is Reason.BAD_INPUT


@pytest.mark.parametrize(
    ("broken", "field", "lost"),
    [
        (None, "info", 1),
        ([], "info", 1),
        ("text", "info", 1),
        ([3], "info[0]", 2),
        ([{"short_description": "a"}], "info[0].category", 2),
        ([{"category": 7, "short_description": "a"}], "info[0].category", 2),
        ([{"category": "dog", "short_description": 1.5}], "info[0].short_description", 2),
        ([{"category": "dog", "short_description": 7}], "info[0].short_description", 2),
        ([{"category": "dog", "short_description": "a", "relation": 3}], "info[0].relation", 3),
    ],
)
def test_a_broken_annotation_is_bad_input_that_says_where(
    broken: Any, field: str, lost: int
) -> None:
    questions = planned(broken).questions
    assert len(questions) == lost
    for question in questions:
        assert question.unscored is Reason.BAD_INPUT
        assert question.note.startswith(f"anno.json:7: {field}: ")
        assert question.note.endswith(UNCOUNTED) == (lost == 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("short_description", ""),
        ("category", None),
        ("relation", [5, "The dog stands on the carpet"]),
    ],
)
@pytest.mark.parametrize("relations", ["aligned", "released"])
def test_a_broken_field_loses_all_questions_of_its_picture(
    info: Info, name: str, value: Any, relations: str
) -> None:
    item = planned([info[0] | {name: value}, info[1]], relations=relations)
    assert [question.unscored for question in item.questions] == [Reason.BAD_INPUT] * 5
    whole = planned(info, relations=relations)
    assert [(one.ordinal, one.repeats) for one in item.questions] == [
        (one.ordinal, one.repeats) for one in whole.questions
    ]
    kinds = [one.payload.kind for one in item.questions[1:]]
    assert kinds == ["attribute"] * 2 + ["relation"] * 2


def test_a_picture_annotated_twice_is_refused(row: Row) -> None:
    again = Row("anno.json", 5, row.fields)
    with pytest.raises(InvalidInput, match=r"anno.json:5: image: .*line 1"):
        list(plan([row, again], PlanRequest({})))


def test_a_row_without_picture_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"anno\.json:2: image"):
        list(plan([Row("anno.json", 2, {"info": []})], PlanRequest({})))


def qa(file: str, image: str, answer: str = "A", **more: str) -> Row:
    fields = {"image_name": image, "category": "cup", "answer": answer}
    return Row(file, 1, fields | {"question": "Seen? A. Yes. B. No."} | more)


def test_compreqa_is_asked_from_the_media_by_picture(row: Row) -> None:
    rows = [
        qa("QA_json/finegri_visible_qa_hulla.jsonl", "park.jpg"),
        qa("compreqa_p.jsonl", "sea.jpg", "B"),
        qa("all.json", "park.jpg", kind="cap"),
    ]
    items = list(plan([row], PlanRequest({}, qa_rows=rows)))
    assert [(item.key, item.sample, item.source) for item in items] == [
        ("park.jpg", "park.jpg", Source.CAPTION),
        ("qa/park.jpg", "park.jpg", Source.MEDIA),
        ("qa/sea.jpg", "sea.jpg", Source.MEDIA),
    ]
    assert [question.payload.kind for question in items[1].questions] == ["p", "cap"]
    assert [question.ordinal for question in items[1].questions] == [0, 1]


def test_an_answer_that_is_no_option_is_bad_ground_truth() -> None:
    [item] = plan([], PlanRequest({}, qa_rows=[qa("compreqa_p.json", "park.jpg", "C")]))
    assert item.questions[0].unscored is Reason.BAD_GROUND_TRUTH


def test_an_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"'other'; known: p, cap"):
        list(plan([], PlanRequest({}, qa_rows=[qa("other.json", "park.jpg")])))
