from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from tests.fakes.sources import ROOT, python_path

from caliper.adapters.models.lexical import LexicalAnswerer, reply_to
from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.benchmarks.captionqa.questions import CANNOT, ChoiceQuestion
from caliper.benchmarks.comprecap.questions import CompreQaQuestion, PhraseQuestion
from caliper.core.outcome import Reason
from caliper.core.question import Ask, Failure, Item, Question, Reply, Source

_OF = {
    **dict.fromkeys((ElementQuestion, MediaQuestion), "capability"),
    ChoiceQuestion: "captionqa",
    **dict.fromkeys((PhraseQuestion, CompreQaQuestion), "comprecap"),
}


def ask(payload: Any, fields: dict[str, str], source: Source = Source.CAPTION) -> Ask:
    question = Question(0, payload)
    item = Item(_OF[type(payload)], "item", "sample", "", (), (question,), source)
    return Ask(item, question, 0, "any/template", fields)


def letter(caption: str, question: str, *choices: str, cannot: bool = True) -> str:
    options = len(choices) + cannot
    order = tuple(range(options))
    payload = ChoiceQuestion("natural", "A - B", question, choices, 0, cannot, order)
    answer = reply_to(ask(payload, {"caption": caption}))
    assert isinstance(answer, Reply)
    return answer.text


def rating(sentence: str, phrase: str) -> int:
    payload = PhraseQuestion("attribute", 0, phrase, ("x",))
    answer = reply_to(ask(payload, {"sentence": sentence, "phrase": phrase}))
    assert isinstance(answer, Reply)
    return int(answer.text)


async def test_an_open_task_is_answered_with_the_copied_annotation_score_and_reason() -> None:
    answer = await LexicalAnswerer().answer(
        ask(ElementQuestion("object_number", "2", "dog"), {"caption": "Two dogs play."})
    )
    assert isinstance(answer, Reply)
    reply = json.loads(answer.text)
    assert reply["object_number"] == "{dog: 2}"
    assert reply["score"] == "1"
    assert set(reply) == {"object_number", "score", "reason"}


def test_a_category_task_is_answered_with_a_list_and_does_not_see_the_annotation() -> None:
    replies = {
        reply_to(ask(ElementQuestion("camera_movement", element), {"caption": caption}))
        for element in ("left", "right", "fixed")
        for caption in ("The camera pans left.",)
    }
    assert len(replies) == 1
    (answer,) = replies
    assert isinstance(answer, Reply)
    assert json.loads(answer.text)["pred"] == ["left"]


def test_silence_about_a_category_is_not_available() -> None:
    answer = reply_to(ask(ElementQuestion("style", "realistic"), {"caption": "A cat sleeps."}))
    assert isinstance(answer, Reply)
    assert json.loads(answer.text)["pred"] == ["N/A"]


@pytest.mark.parametrize(
    ("payload", "source"),
    [
        (MediaQuestion("scene", "Where?", ("A. here",), "A", None), Source.MEDIA),
        (CompreQaQuestion("p", "dog", "Is there a dog?", "A"), Source.MEDIA),
        (
            ChoiceQuestion(
                "natural", "A - B", "Q?", ("a", "b"), 0, has_cannot=False, permutation=(0, 1)
            ),
            Source.MEDIA,
        ),
    ],
)
def test_what_needs_the_picture_is_a_failure_not_a_guess(payload: Any, source: Source) -> None:
    answer = reply_to(ask(payload, {"question": "Where?"}, source))
    assert isinstance(answer, Failure)
    assert answer.reason is Reason.NO_REPLY


CAPTION = (
    "A man in a red jacket rides a brown horse along a beach. Three seagulls fly above the waves. "
    'A sign on the left reads "No Swimming". There are no boats on the water.'
)


@pytest.mark.parametrize(
    ("question", "choices", "expected"),
    [
        ("What color is the man's jacket?", ("Blue", "Red", "Green"), "B"),
        ("How many seagulls are there?", ("Two", "Three", "Five", "Seven"), "B"),
        ("What animal is the man riding?", ("A camel", "A donkey", "A horse"), "C"),
        ("Where does this take place?", ("In a forest", "On a beach", "In an office"), "B"),
        ("What does the sign say?", ("No Swimming", "No Parking", "Keep Out"), "A"),
        ("What is the man's shirt made of?", ("Cotton", "Wool", "Silk"), "D"),
        ("What brand is the saddle?", ("Tekna", "Wintec", "Stubben"), "D"),
    ],
)
def test_the_reader_finds_the_supported_option_or_says_that_it_cannot(
    question: str, choices: tuple[str, ...], expected: str
) -> None:
    assert letter(CAPTION, question, *choices) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [("Is there a horse in the image?", "A"), ("Are there boats on the water?", "B"),
     ("Is there a dog?", "B"), ("Is the man riding a horse?", "A")],
)  # fmt: skip
def test_yes_or_no_questions_take_absence_for_no(question: str, expected: str) -> None:
    assert letter(CAPTION, question, "Yes", "No", cannot=False) == expected


def test_an_empty_caption_cannot_answer() -> None:
    assert letter("", "What color is the car?", "Red", "Blue") == "C"
    assert CANNOT.startswith("Cannot")


@pytest.mark.parametrize(
    ("sentence", "phrase", "low", "high"),
    [
        ("A brown dog with a red collar lies on the grass", "brown dog with a red collar", 5, 5),
        ("A dog lies on the grass", "brown dog with a red collar", 1, 3),
        ("A black dog lies on the grass", "a small brown dog", 0, 2),
        ("A train stands at the station", "brown dog with a red collar", 0, 0),
        ("A man sits on a bench", "a person is sitting on the bench", 4, 5),
    ],
)
def test_phrases_are_rated_by_what_the_sentence_holds(
    sentence: str, phrase: str, low: int, high: int
) -> None:
    assert low <= rating(sentence, phrase) <= high


def test_the_identity_names_the_rules() -> None:
    first, second = LexicalAnswerer().identity, LexicalAnswerer().identity
    assert first == second
    assert (first.kind, first.name, first.cached) == ("lexical", "lexical-rules", False)


def test_replies_do_not_depend_on_the_order_of_hashing() -> None:
    program = (
        "import runpy; judged = runpy.run_path('tests/lexical/test_agreement.py')['judged']; "
        "print(sorted(judged('')[0].items()), sorted(judged('others_')[0].items()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": python_path()},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(outputs) == 1
