from typing import Any

import pytest

from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.captionqa.benchmark import BENCHMARK
from caliper.benchmarks.captionqa.options import question_permutation, released_generator, shuffle
from caliper.benchmarks.captionqa.questions import CANNOT
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Item, Source
from caliper.core.rows import UNCOUNTED, Row

COLOUR = {
    "question": "What colour is it?",
    "choices": ["red", "green", "blue"],
    "answer": " green ",
    "category": ["Attribute - Color", "Attribute - State"],
    "source": "somebody",
}
YES_NO = {"question": "Is it open?", "choices": ["Yes", "No"], "answer": "No", "category": []}


def row(line: int = 1, **fields: Any) -> Row:
    return Row("captionqa.json", line, {"id": "nat_001", "questions": [COLOUR], **fields})


def plan(
    *rows: Row,
    captions: frozenset[str] | None = None,
    qa: list[Row] | None = None,
    seed: int = 0,
    repeats: int | None = None,
    **settings: str,
) -> list[Item]:
    request = PlanRequest(settings, seed=seed, repeats=repeats, captions=captions, qa_rows=qa)
    return list(BENCHMARK.plan(rows, request))


def only(*rows: Row, **options: Any) -> Item:
    (item,) = plan(*rows, **options)
    return item


def refused(*rows: Row, **options: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        plan(*rows, **options)
    return caught.value


def test_nested_row() -> None:
    item = only(row(questions=[COLOUR, YES_NO], image_paths=["a.jpg", "b.jpg"], domain="Natural"))
    assert (item.benchmark, item.key, item.sample) == ("captionqa", "nat_001", "nat_001")
    assert (item.media, item.cluster) == (("a.jpg", "b.jpg"), "a.jpg")
    assert item.source is Source.CAPTION
    colour, yes_no = (question.payload for question in item.questions)
    assert (colour.domain, colour.category) == ("natural", "Attribute - Color")
    assert (colour.choices, colour.answer, colour.has_cannot) == (("red", "green", "blue"), 1, True)
    assert sorted(colour.options) == sorted(("red", "green", "blue", CANNOT))
    assert colour.permutation == question_permutation(0, "nat_001", 0, 4)
    assert (yes_no.has_cannot, yes_no.category, yes_no.answer) == (False, "", 1)
    assert yes_no.permutation == question_permutation(0, "nat_001", 1, 2)
    assert BENCHMARK.group(item) == "natural"


def test_flat_rows_with_the_same_id_are_one_item() -> None:
    first = Row("f.json", 1, {"id": "nat_1", **COLOUR, "images": ["a.jpg"]})
    other = Row("f.json", 2, {"id": "doc_1", **COLOUR, "category": "Layout"})
    second = Row("f.json", 3, {"id": "nat_1", **YES_NO, "questions": None})
    items = plan(first, other, second)
    assert [item.key for item in items] == ["nat_1", "doc_1"]
    assert [question.payload.question for question in items[0].questions] == [
        COLOUR["question"],
        YES_NO["question"],
    ]
    nested = only(row(id="nat_1", questions=[COLOUR, YES_NO], images=["a.jpg"]))
    assert items[0] == nested
    assert items[1].questions[0].payload.category == "Layout"


def test_first_of_equal_choices_is_the_ground_truth() -> None:
    question = COLOUR | {"choices": ["red", "green", " green"]}
    assert only(row(questions=[question])).questions[0].payload.answer == 1


@pytest.mark.parametrize(
    ("fields", "media"),
    [
        ({"images": ["a.jpg"]}, ("a.jpg",)),
        ({"images": [{"path": "a.jpg", "bytes": b"x"}]}, ("a.jpg",)),
        ({"images": [{"path": None, "bytes": b"x"}], "image_paths": ["b.jpg"]}, ("b.jpg",)),
        ({"images": ["a.jpg"], "image_paths": ["b.jpg"]}, ("b.jpg",)),
        ({"images": ["a.jpg"], "image_paths": []}, ("a.jpg",)),
        ({"images": "a.jpg"}, ("a.jpg",)),
        ({"images": [{"bytes": b"x"}]}, ()),
        ({}, ()),
    ],
)
def test_media(fields: dict[str, Any], media: tuple[str, ...]) -> None:
    item = only(row(**fields))
    assert item.media == media
    assert item.cluster == (media[0] if media else "nat_001")


@pytest.mark.parametrize(
    ("identifier", "written", "domain"),
    [
        ("nat_1", None, "natural"),
        ("doc_1", None, "document"),
        ("ecom_1", "", "ecommerce"),
        ("emb_1", None, "embodiedai"),
        ("x", "Natural", "natural"),
        ("x", "documents", "document"),
        ("x", "E-commerce", "ecommerce"),
        ("x", "ecom", "ecommerce"),
        ("x", "Embodied AI", "embodiedai"),
        ("x", "embodied_ai", "embodiedai"),
        ("nat_1", "document", "document"),
    ],
)
def test_domains(identifier: Any, written: str | None, domain: str) -> None:
    assert BENCHMARK.group(only(row(id=identifier, domain=written))) == domain


@pytest.mark.parametrize("fields", [{"domain": "medical"}, {"id": "x_1"}, {"domain": 3}])
def test_unknown_domain_is_refused_with_the_known_ones(fields: dict[str, Any]) -> None:
    error = refused(row(line=4, **fields))
    assert (error.file, error.line, error.field) == ("captionqa.json", 4, "domain")
    assert "natural, document, ecommerce, embodiedai" in str(error)


def test_duplicate_ids_are_refused() -> None:
    flat = Row("captionqa.json", 2, {"id": "nat_001", **COLOUR})
    for rows in ((row(), row(line=2)), (row(), flat), (flat, row(line=2))):
        assert refused(*rows).field == "id"


def test_flat_rows_that_disagree_about_the_domain_are_refused() -> None:
    flat = {"id": "nat_001", **COLOUR}
    error = refused(Row("f", 1, flat), Row("f", 2, flat | {"domain": "document"}))
    assert (error.line, error.field) == (2, "domain")


@pytest.mark.parametrize("identifier", [None, "", " ", ["x"]])
def test_missing_id_is_refused(identifier: Any) -> None:
    assert refused(row(line=9, id=identifier)).where == "captionqa.json:9: id"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"answer": "purple"}, "answer"),
        ({"answer": None}, "answer"),
        ({"answer": ""}, "answer"),
        ({"choices": ["green"]}, "choices"),
        ({"choices": []}, "choices"),
    ],
)
def test_bad_ground_truth_is_listed(change: dict[str, Any], field: str) -> None:
    fine, bad = only(row(questions=[COLOUR, COLOUR | change])).questions
    assert fine.unscored is None
    assert bad.unscored is Reason.BAD_GROUND_TRUTH
    assert bad.payload.answer == -1
    assert bad.note.startswith(f"captionqa.json:1: questions[1].{field}: ")


@pytest.mark.parametrize(
    ("broken", "field"),
    [
        ("not an object", ""),
        (None, ""),
        (COLOUR | {"question": " "}, ".question"),
        (COLOUR | {"question": 3}, ".question"),
        ({"choices": ["a", "b"], "answer": "a"}, ".question"),
        (COLOUR | {"choices": "red, green"}, ".choices"),
        (COLOUR | {"choices": None}, ".choices"),
        (COLOUR | {"choices": ["red", None, "green"]}, ".choices[1]"),
        (COLOUR | {"choices": ["red", ["x"], "green"]}, ".choices[1]"),
    ],
)
def test_broken_question_objects_are_unscored_and_told(broken: Any, field: str) -> None:
    fine, bad = only(row(line=12, questions=[COLOUR, broken])).questions
    assert fine.unscored is None
    assert bad.unscored is Reason.BAD_INPUT
    assert bad.note.startswith(f"captionqa.json:12: questions[1]{field}: ")


@pytest.mark.parametrize("questions", [None, [], "What?", 5])
def test_a_row_without_questions_is_one_unscored_question(questions: Any) -> None:
    (bad,) = only(row(questions=questions)).questions
    assert bad.unscored is Reason.BAD_INPUT
    assert bad.note.startswith("captionqa.json:1: questions: expected a list of questions, found ")
    assert bad.note.endswith(UNCOUNTED)


def test_numbers_may_stand_for_texts() -> None:
    question = COLOUR | {"choices": [1, 2.5, 3], "answer": 3}
    payload = only(row(questions=[question])).questions[0].payload
    assert (payload.choices, payload.answer) == (("1", "2.5", "3"), 2)


def test_yes_no_setting() -> None:
    question = {"question": "What is it?", "choices": ["Snow", "Eyes"], "answer": "Snow"}
    released = only(row(questions=[question])).questions[0].payload
    exact = only(row(questions=[question]), yes_no="exact").questions[0].payload
    assert (released.has_cannot, exact.has_cannot) == (False, True)


def test_repeats() -> None:
    item = only(row(questions=[COLOUR, "broken"]), repeats=3)
    assert item.size == 6
    assert only(row()).size == 1


def test_question_shuffle_depends_on_nothing_else() -> None:
    alone = only(row(id="nat_2"), seed=3).questions
    among = plan(row(), row(line=2, id="nat_2"), captions=frozenset({"nat_2"}), seed=3)[1].questions
    assert alone == among
    assert alone[0].payload.permutation == question_permutation(3, "nat_2", 0, 4)
    assert all(question.repeats == 5 for question in only(row(), repeats=5).questions)


def test_released_shuffle_needs_captions() -> None:
    error = refused(row(), shuffle="released")
    assert error.field == "shuffle"
    assert "supply captions" in str(error)
    assert "shuffle=question" in str(error)


def test_released_shuffle_is_one_generator_over_usable_questions_with_a_caption() -> None:
    bad = COLOUR | {"answer": "purple"}
    rows = (
        row(id="nat_1", questions=[COLOUR, bad, "broken", YES_NO]),
        row(id="nat_2", line=2, questions=[COLOUR]),
        row(id="nat_3", line=3, questions=[YES_NO, COLOUR]),
    )
    captions = frozenset({"nat_1", "nat_3"})
    items = plan(*rows, captions=captions, shuffle="released", seed=8)
    generator = released_generator()
    asked = [*items[0].questions[::3], *items[2].questions]
    expected = [shuffle(generator, size) for size in (4, 2, 2, 4)]
    assert [question.payload.permutation for question in asked] == expected
    # Nothing to reproduce without a caption: the question's own draw.
    uncaptioned = items[1].questions[0].payload.permutation
    assert uncaptioned == question_permutation(8, "nat_2", 0, 4)


def test_questions_from_the_media_have_the_same_options() -> None:
    rows = (row(image_paths=["a.jpg"]), row(id="doc_2", line=2))
    caption, image, _, without = plan(*rows, qa=[], repeats=2)
    assert (image.key, image.sample, image.source) == ("qa/nat_001", "nat_001", Source.MEDIA)
    assert (image.cluster, image.media) == (caption.cluster, ("a.jpg",))
    assert image.questions == caption.questions
    assert without.questions[0].unscored is Reason.MEDIA_MISSING
    assert "doc_2" in without.questions[0].note


def test_questions_from_the_media_share_the_released_permutation() -> None:
    captions = frozenset({"nat_001"})
    caption, image = plan(row(images=["a"]), qa=[], captions=captions, shuffle="released")
    assert image.questions == caption.questions
    assert caption.questions[0].payload.permutation == shuffle(released_generator(), 4)
