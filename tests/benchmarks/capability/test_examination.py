from __future__ import annotations

from fractions import Fraction

import pytest
from tests.fakes.examinations import driven, in_turn

from caliper.benchmarks.base import PlanRequest, Settings
from caliper.benchmarks.capability.benchmark import BENCHMARK
from caliper.benchmarks.capability.examination import category_score
from caliper.core.outcome import Outcome, Reason, Scored, Unscored, Verdict
from caliper.core.question import Answer, Ask, Failure, Item, Reply
from caliper.core.rows import Row

RIGHT, WRONG, SILENT = (Scored(Fraction(score)) for score in (1, -1, 0))
SILENT_WITHOUT_A_CALL = Scored(Fraction(0), mentioned=False)


def item(task: str, annotation: object, repeats: int = 1) -> Item:
    fields = {"file_id": "1", "file_path": "1.jpg", "task": task, "annotation": annotation}
    request = PlanRequest(settings={}, repeats=repeats)
    return next(iter(BENCHMARK.plan([Row(f"{task}.jsonl", 1, fields)], request)))


def examined(
    about: Item, caption: str | None, *batches: list[Answer], settings: Settings | None = None
) -> tuple[list[tuple[Ask, ...]], tuple[Verdict, ...]]:
    """The batches that were asked, and the verdicts after `batches` were sent as answers."""
    return driven(BENCHMARK.examine(about, caption, settings or {}), in_turn(*batches))


def outcomes(verdicts: tuple[Verdict, ...]) -> list[Outcome]:
    return [verdict.outcome for verdict in verdicts]


def test_one_call_an_object_with_all_that_the_prompt_needs() -> None:
    about = item("dynamic_object_number", {"table": 4, "chair": 2})
    replies: list[Answer] = [Reply('{"score": "1"}'), Reply('{"score": "0"}')]
    asked, verdicts = examined(about, "Four tables.", replies)
    assert [ask.prompt for ask in asked[0]] == ["capability/dynamic_object_number"] * 2
    assert [dict(ask.fields) for ask in asked[0]] == [
        {"caption": "Four tables.", "object": "table", "element": "4"},
        {"caption": "Four tables.", "object": "chair", "element": "2"},
    ]
    assert asked[0][0].decoding.temperature == 0
    assert outcomes(verdicts) == [RIGHT, SILENT]


@pytest.mark.parametrize(
    ("choice", "prompt", "kind"),
    [("any", "capability/style_labels", "array"), ("one", "capability/style", None)],
)
def test_the_judge_of_a_category_does_not_see_the_annotation(
    choice: str, prompt: str, kind: str | None
) -> None:
    settings = {"category_labels": choice}
    asked, _ = examined(
        item("style", "cubism art"), "A photo.", [Reply('{"pred": "N/A"}')], settings=settings
    )
    [ask] = asked[0]
    assert ask.prompt == prompt
    assert set(ask.fields) == {"caption", "categories", "explanations"}
    assert ask.fields["categories"].startswith("['realistic', 'animated', 'special effect'")
    assert ask.schema is not None
    assert ask.schema["properties"]["pred"].get("type") == kind


@pytest.mark.parametrize(
    ("caption", "settings", "outcome"),
    [
        (None, {}, Unscored(Reason.NO_CAPTION)),
        (None, {"blank_caption": "answer"}, Unscored(Reason.NO_CAPTION)),
        # As runs have it that were made before the setting.
        ("", {}, Unscored(Reason.NO_CAPTION)),
        (" \n\t", {"blank_caption": "unscored"}, Unscored(Reason.NO_CAPTION)),
        ("", {"blank_caption": "answer"}, SILENT_WITHOUT_A_CALL),
        (" \n\t", {"blank_caption": "answer"}, SILENT_WITHOUT_A_CALL),
    ],
)
def test_without_a_caption_nothing_is_asked(
    caption: str | None, settings: dict[str, str], outcome: Outcome
) -> None:
    asked, verdicts = examined(item("event", "x", repeats=2), caption, settings=settings)
    assert asked == []
    assert outcomes(verdicts) == [outcome] * 2
    assert [verdict.index for verdict in verdicts] == [0, 1]


def test_a_blank_caption_changes_nothing_about_an_unusable_annotation() -> None:
    about = item("dynamic_object_number", {"table": "four", "chair": 2})
    asked, verdicts = examined(about, "", settings={"blank_caption": "answer"})
    assert asked == []
    assert outcomes(verdicts) == [Unscored(Reason.BAD_INPUT), SILENT_WITHOUT_A_CALL]


def test_an_unusable_annotation_is_not_asked_and_keeps_its_place() -> None:
    about = item("dynamic_object_number", {"table": "four", "chair": 2})
    asked, verdicts = examined(about, "Chairs.", [Reply('{"score": 0}')])
    assert len(asked[0]) == 1
    assert outcomes(verdicts) == [Unscored(Reason.BAD_INPUT), SILENT]
    assert "dynamic_object_number.jsonl:1: annotation" in verdicts[0].evidence.explanation


def test_what_is_unreadable_is_asked_once_more() -> None:
    about = item("event", "x", repeats=3)
    first: list[Answer] = [Reply("Hm."), Reply('{"score": 1}'), Reply("Well.")]
    second: list[Answer] = [Reply('{"score": -1,}'), Reply("Still: well.")]
    asked, verdicts = examined(about, "A dog.", first, second)
    assert [(ask.repeat, ask.attempt) for ask in asked[1]] == [(0, 1), (2, 1)]
    assert outcomes(verdicts) == [WRONG, RIGHT, Unscored(Reason.UNREADABLE)]
    assert [verdict.evidence.repaired for verdict in verdicts] == [True, False, False]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Failure(Reason.BACKEND, "503"), Reason.BACKEND),
        (Failure(Reason.TIMEOUT), Reason.TIMEOUT),
        (Failure(Reason.REFUSED), Reason.REFUSED),
        (Reply("  "), Reason.NO_REPLY),
    ],
)
def test_no_trouble_becomes_a_score(answer: Answer, reason: Reason) -> None:
    _, verdicts = examined(item("scene", "forest"), "A forest.", [answer])
    assert outcomes(verdicts) == [Unscored(reason)]


def test_a_reply_cut_off_before_its_score_is_truncated() -> None:
    cut = Reply('{"scene": "forest", "sco', truncated=True)
    _, verdicts = examined(item("scene", "forest"), "A forest.", [cut])
    assert outcomes(verdicts) == [Unscored(Reason.TRUNCATED)]


def test_a_strict_reading_asks_again_for_what_a_lenient_one_repairs() -> None:
    trailing = Reply('{"score": 1,}')
    about = item("scene", "forest")
    _, verdicts = examined(about, "A forest.", [trailing])
    assert outcomes(verdicts) == [RIGHT]
    strict = {"reply_reading": "strict"}
    _, verdicts = examined(about, "A forest.", [trailing], [trailing], settings=strict)
    assert outcomes(verdicts) == [Unscored(Reason.UNREADABLE)]


@pytest.mark.parametrize(
    ("labels", "any_label", "one_label"),
    [
        (("in",), 1, 1),
        (("in", "in"), 1, 1),
        (("left", "in"), 1, -1),
        (("left",), -1, -1),
        (("sideways",), -1, -1),
        (("n/a",), 0, 0),
        (("in", "n/a"), 0, 0),
    ],
)
def test_categories_score_by_any_label_or_by_exactly_one(
    labels: tuple[str, ...], any_label: int, one_label: int
) -> None:
    assert category_score("in", labels, several=True) == any_label
    assert category_score("in", labels, several=False) == one_label


def test_the_setting_decides_how_categories_score() -> None:
    about = item("camera_movement", "in")
    both: list[Answer] = [Reply('{"pred": ["left", "in"]}')]
    two = Scored(Fraction(1), labels=2)
    assert outcomes(examined(about, "It moves.", both)[1]) == [two]
    one = {"category_labels": "one"}
    wrong = Scored(Fraction(-1), labels=2)
    assert outcomes(examined(about, "It moves.", both, settings=one)[1]) == [wrong]


@pytest.mark.parametrize(
    ("listed", "labels"),
    [
        ('["in"]', 1),
        ('["in", "in", "left"]', 2),
        ('["in", "left", "sideways"]', 3),
        ('["N/A"]', 0),
        ('["in", "N/A"]', 0),
    ],
)
def test_labels_are_counted_where_they_are_read(listed: str, labels: int) -> None:
    replies: list[Answer] = [Reply(f'{{"pred": {listed}}}')]
    (outcome,) = outcomes(examined(item("camera_movement", "in"), "It moves.", replies)[1])
    assert isinstance(outcome, Scored)
    assert outcome.labels == labels
