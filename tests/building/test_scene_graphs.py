"""The rules of scene graphs: names, masks, relations, and the files that are evaluated."""

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.comprecap.planning import plan
from caliper.benchmarks.comprecap.questions import Atom
from caliper.building.candidates import Candidate
from caliper.building.comprecap.descriptions import describe
from caliper.building.comprecap.graphs import (
    compose_question,
    compreqa_rows,
    edit_graph,
    scene_rows,
    summary,
)
from caliper.building.comprecap.kind import COMPRECAP
from caliper.building.comprecap.relations import (
    check_relations,
    ends_of,
    find_end,
    list_relations,
    relation_candidate,
)
from caliper.building.comprecap.replies import (
    read_description,
    read_relations,
    read_wrong_descriptions,
)
from caliper.building.comprecap.scenes import (
    SceneObject,
    ScenePicture,
    SceneRules,
    check_objects,
    list_objects,
    object_category,
    object_names,
)
from caliper.building.kinds import CandidateEdit
from caliper.building.steps import Fate
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Source
from caliper.core.rows import Row

TABLE = SceneObject("table", "m", short="a table", extend="a wooden table")
CUP, OTHER = (
    SceneObject("cup #1", "m", relations=("The cup stands on the table.",)),
    SceneObject("cup #2", "m", short="a cup"),
)


def picture(*objects: SceneObject, atoms: tuple[Atom, ...], image: str = "a.jpg") -> ScenePicture:
    return ScenePicture(image, 100, objects, atoms)


KITCHEN = picture(
    TABLE, CUP, OTHER, atoms=(Atom((0,), 80), Atom((1,), 10), Atom((1, 2), 5), Atom((2,), 1))
)


def checked(scene: ScenePicture, **rules: Any) -> list[Fate]:
    fates = list(list_objects([scene]))
    return check_objects(fates, {scene.image: scene}, SceneRules(**rules))


@given(st.lists(st.sampled_from(["cup", "Cup ", "tea  pot", "dog"]), max_size=8))
def test_names_are_unique_and_tell_the_category(categories: list[str]) -> None:
    names = object_names(categories)
    assert len(set(names)) == len(names)
    assert list(map(object_category, names)) == [" ".join(each.split()) for each in categories]


def test_objects_that_break_a_rule_are_dropped_with_the_reason() -> None:
    assert [fate.dropped for fate in checked(KITCHEN)] == ["", "", ""]
    found = {
        fate.candidate.question: (fate.dropped, fate.detail)
        for fate in checked(KITCHEN, vocabulary=("Table", "saucer"), least=0.1, coverage=0.8)
    }
    assert found["table"] == ("", "")
    assert found["cup #1"] == ("category not in the vocabulary", "cup")
    small = checked(KITCHEN, least=0.07)
    assert [fate.dropped for fate in small] == ["", "", "too small"]
    assert small[2].detail == "6.00% of the picture"
    few = checked(KITCHEN, coverage=0.97)
    assert {fate.dropped for fate in few} == {"picture not covered enough"}
    assert few[0].detail == "96.0% of a.jpg, 97% suffice"


def test_one_object_annotated_twice_stays_once() -> None:
    twice = picture(CUP, OTHER, atoms=(Atom((0, 1), 94), Atom((0,), 6)))
    assert [fate.dropped for fate in checked(twice)] == ["", "same object twice"]
    # Of different categories, one may well cover the other.
    apart = picture(TABLE, OTHER, atoms=(Atom((0, 1), 96),))
    assert [fate.dropped for fate in checked(apart)] == ["", ""]


def test_an_object_without_a_usable_mask_is_dropped() -> None:
    broken = replace(CUP, fault="the mask covers nothing")
    (fate,) = list_objects([picture(broken, atoms=())])
    assert (fate.dropped, fate.detail) == ("mask cannot be used", "the mask covers nothing")


@pytest.mark.parametrize(
    ("text", "subject", "end"),
    [
        ("The cup stands on the table.", "cup #1", "table"),
        ("The cup is beside the other cup.", "cup #1", "cup #2"),
        ("The cup is full.", "cup #1", ""),
        ("The table carries the cups.", "table", "cup"),
        ("On the table, the lamp lights the cup.", "lamp", "cup"),
        ("The tabletop is dusty.", "lamp", ""),
    ],
)
def test_the_other_end_of_a_given_relation(text: str, subject: str, end: str) -> None:
    assert find_end(text, subject, ["table", "cup #1", "cup #2", "lamp"]) == end


def test_relations_that_break_a_rule_are_dropped_with_the_reason() -> None:
    kept = [fate.candidate for fate in list_objects([KITCHEN])]
    told = [
        ("cup #1", "table", "The cup stands on the table."),
        ("cup #1", "table", "The cup  stands on the table"),
        ("cup #1", "lamp", "The cup is below the lamp."),
        ("lamp", "cup", "The lamp lights the cup."),
        ("cup #1", "cup #1", "The cup is a cup."),
        ("cup #1", "cup", "The cup touches the cup."),
        ("cup #1", "table", "It stands there."),
        ("cup #1", "", "The cup is full."),
    ]
    fates = [Fate(relation_candidate("a.jpg", *each)) for each in told]
    assert [fate.dropped for fate in check_relations(fates, kept)] == [
        "",
        "same relation twice",
        "object is left out",
        "subject is left out",
        "relation to itself",
        "",
        "text does not name its object",
        "names no other object",
    ]
    (given_one,) = list_relations([KITCHEN])
    assert ends_of(given_one.candidate) == ("cup #1", "table")
    assert given_one.decision == "accept"


def test_descriptions_are_given_written_or_missing() -> None:
    fates, pictures = list(list_objects([KITCHEN])), {"a.jpg": KITCHEN}
    assert fates[1].candidate.answer == "cup"
    alone = describe(fates, pictures)
    assert [(fate.decision, fate.dropped) for fate in alone] == [
        ("accept", ""),
        ("", "no description"),
        ("accept", ""),
    ]
    helped = describe(fates, pictures, [replace(fates[1].candidate, answer="a cup")], "m")
    assert helped[0].candidate.answer == "a table\na wooden table"
    assert [fate.decision for fate in helped] == ["accept", "review", "review"]
    assert helped[1].reasons == ("written by m",)
    assert helped[2].reasons == ("same description as cup #1",)
    # Nobody's verdict about one description is about another.
    assert helped[1].candidate.id not in {fate.candidate.id for fate in fates}


def test_replies_of_models() -> None:
    written = read_description('{"short": "a cup", "full": "a red cup"}', "a.jpg", "cup", 1)
    assert written
    assert written.candidates[0].answer == "a cup\na red cup"
    assert read_description("no", "a.jpg", "cup", 1) is None
    entry = {"subject": "cup", "object": "table", "relation": "The cup is on the table."}
    reply = json.dumps({"relations": [entry, {"subject": "cup"}, "x", entry]})
    related = read_relations(reply, "a.jpg", "relations", 1)
    assert related
    assert len(related.candidates) == 1
    assert related.unusable == 3
    wrong = read_wrong_descriptions('[{"wrong": "a jug"}, {"wrong": "a pan"}]', "a.jpg", "cup", 2)
    assert wrong
    assert wrong.candidates[0].choices == ("a jug", "a pan")
    assert read_wrong_descriptions('[{"wrong": "a jug"}]', "a.jpg", "cup", 2).candidates == ()  # type: ignore[union-attr]


def mask(*covered: int) -> str:
    cells = bytes(place in covered for place in range(100))
    return base64.b64encode(zlib.compress(cells)).decode()


def accepted(image: str) -> list[Candidate]:
    return [
        Candidate.of(image, "table", (), "a table\na wooden table", "object"),
        Candidate.of(image, "cup", (), f"a cup of {image}", "object"),
        relation_candidate(image, "cup", "table", "The cup stands on the table."),
        relation_candidate(image, "table", "rug", "The table stands on the rug."),
    ]


def scene(image: str) -> dict[str, Any]:
    objects = {"rug": mask(99), "table": mask(*range(90)), "cup": mask(3, 4)}
    return {
        "image": image,
        "objects": [{"name": name, "mask_out": text} for name, text in objects.items()],
    }


def test_the_files_are_those_that_the_benchmark_reads() -> None:
    images = [f"{letter}.jpg" for letter in "abc"]
    kept = [each for image in images for each in accepted(image)]
    build = {"inputs": [*map(scene, images), scene("none.jpg")], "settings": {"seed": 0}}
    files = COMPRECAP.files(kept, build)
    assert sorted(files) == [
        "anno.json",
        "compreqa/compreqa_cap.jsonl",
        "compreqa/compreqa_p.jsonl",
    ]
    rows = [Row("anno.json", 1, row) for row in json.loads(files["anno.json"])]
    lines = files["compreqa/compreqa_cap.jsonl"].splitlines()
    asked = [Row("compreqa_cap.jsonl", 1, json.loads(line)) for line in lines]
    assert [row.fields["image"] for row in rows] == images
    first = rows[0].fields["info"][1]
    assert first["relation"] == ["The cup stands on the table."]
    assert rows[0].fields["info"][0] == {
        "category": "table",
        "short_description": "a table",
        "extend_description": "a wooden table",
        "mask_out": mask(*range(90)),
        "relation": [],
    }
    items = list(plan(rows, PlanRequest({}, qa_rows=asked)))
    unscored = [question.unscored for item in items for question in item.questions]
    assert Reason.BAD_INPUT not in unscored
    assert Reason.BAD_GROUND_TRUTH not in unscored
    assert sum(item.source is Source.MEDIA for item in items) == 3
    assert summary(kept).startswith("Scene graphs of 3 pictures for CompreCap's protocol: 6 obj")
    assert summary(kept).endswith("3 accepted relations lack an end that is accepted.")
    assert ("relations per picture", "1.00", "8.84") in COMPRECAP.statistics(kept)


def test_reviewed_questions_take_the_place_of_drawn_ones() -> None:
    kept = [each for image in ("a.jpg", "b.jpg", "c.jpg") for each in accepted(image)]
    written = read_wrong_descriptions('[{"wrong": "a jug"}, {"wrong": "a pan"}]', "a.jpg", "cup", 2)
    assert written is not None
    (question,) = written.candidates
    fate = compose_question(question, "a cup of a.jpg", 3, "m")
    assert (fate.dropped, sorted(fate.candidate.choices)) == (
        "",
        ["a cup of a.jpg", "a jug", "a pan"],
    )
    lost = replace(fate.candidate, question="rug")
    rows = scene_rows(kept, [scene(image) for image in ("a.jpg", "b.jpg", "c.jpg")])
    (row,) = compreqa_rows([*kept, fate.candidate, lost], rows, 0)["cap"]
    place = "ABC".index(row["answer"])
    assert fate.candidate.choices[place] == "a cup of a.jpg"
    assert row["question"].startswith("Which description best fits the 'cup' in the image? A. ")
    same = compose_question(question, "A jug.", 3, "m")
    assert same.dropped == "equal descriptions"


@pytest.mark.parametrize(
    ("place", "edit", "told"),
    [
        (0, CandidateEdit("", (), " \n"), "expected a short description"),
        (0, CandidateEdit("", (), "a\nb\nc"), "expected a short description"),
        (0, CandidateEdit("", (), "a" * 2_001), "longer than 2,000"),
        (2, CandidateEdit("", (), "The cup\nstands"), "expected one line"),
        (2, CandidateEdit("", (), "The cup stands."), "does not name the table"),
        (4, CandidateEdit("", ("a", "b"), "a"), "expected 3 descriptions"),
        (4, CandidateEdit("", ("a", "b", "A."), "a"), "equal descriptions"),
    ],
)
def test_edits_follow_the_rules(place: int, edit: CandidateEdit, told: str) -> None:
    question = Candidate.of("a.jpg", "cup", ("a cup", "a jug", "a pan"), "a cup", "CompreQA-Cap")
    with pytest.raises(InvalidInput, match=told):
        edit_graph([*accepted("a.jpg"), question][place], edit)


def test_an_edit_keeps_what_it_is_about() -> None:
    table, _, relation, _ = accepted("a.jpg")
    changed = edit_graph(table, CandidateEdit("other", (), " a  desk\n\nan old desk "))
    assert changed == replace(table, answer="a desk\nan old desk")
    text = "The cup is on the table."
    assert edit_graph(relation, CandidateEdit("", (), text)) == replace(relation, answer=text)
