"""What a figure rests on is told, once, and as far as it is known."""

import dataclasses
from collections.abc import Mapping

from tests.fakes import reports

from caliper.adapters.provenance import facts
from caliper.core.question import Decoding
from caliper.core.report import BenchmarkReport, Estimate, Generation, JudgeCheck
from caliper.core.suspicion import Suspicious

SPEC = {"pack": "ab" * 32, "captions": {"capability": "0" * 64}}


def told(part: BenchmarkReport, spec: Mapping[str, object] = SPEC) -> dict[str, str]:
    found = tuple(facts(part, spec))
    labels = [fact.label for fact in found]
    assert len(labels) == len(set(labels))
    return {fact.label: fact.text for fact in found}


def judged() -> BenchmarkReport:
    """A part that a chat model judged."""
    generation = Generation(
        ("capability/OCR", "capability/style_labels"), Decoding(0.6, 0.9, 4096, 7), 3
    )
    return dataclasses.replace(
        reports.capability(),
        settings={
            "temperature": "0.6",
            "top_p": "0.9",
            "prompt": "simple",
            "category_labels": "any",
            "blank_caption": "answer",
        },
        suspicious=Suspicious(0, 1200),
        estimates={("blank_captions",): Estimate(6)},
        generation={"judge": generation},
        check=JudgeCheck(59, 67, 2),
    )


def test_a_model_is_told_with_what_it_was_sent() -> None:
    assert told(judged()) == {
        "Captions": "1,200 supplied, 6 blank (0.50%); caption prompt recorded as simple",
        "Judge": "llama (tgi, 0123456789ab)",
        "Judge: prompts": "OCR, style_labels (pack abababababab)",
        "Judge: decoding": "temperature 0.6, top-p 0.9, at most 4,096 tokens, seed 7; each asked"
        " 3 times",
        "Settings": "blank_caption=answer, category_labels=any",
        "Coverage": "596 of 600 askable questions scored; unscored: 10 bad_ground_truth (1.64%), "
        "1 timeout (0.16%), 3 unreadable (0.49%)",
        "Signs": "None of 1,200 captions shows signs of prompt injection.",
        "Judge check": "59 of 67 known answers judged correctly (88.06%), 2 without a verdict",
        "Known agreement": "none for this judge; `caliper agreement` measures it",
    }


def test_a_captioner_is_told_with_what_it_was_shown() -> None:
    part = dataclasses.replace(
        judged(),
        models={"captioner": "mine (tgi, no revision)", "judge": "words (lexical, 0123)"},
        settings={
            "prompt": "taxonomy",
            "taxonomy": "0a1b",
            "caption_tokens": "500",
            "frames": "32, evenly",
            "images": "at most 1024 pixels a side",
        },
        generation={"captioner": Generation(("taxonomy",), Decoding(max_tokens=500))},
        check=None,
    )
    found = told(part, {"pack": "ab" * 32, "captions": {}})
    assert found["Captions"] == "1,200 written by the captioner"
    assert found["Captioner"] == "mine (tgi, no revision)"
    assert found["Captioner: prompts"] == "taxonomy, taxonomy 0a1b (pack abababababab)"
    assert "at most 500 tokens" in found["Captioner: decoding"]
    assert found["Media"] == "frames of a clip: 32, evenly; pictures: at most 1024 pixels a side"
    assert not found.keys() & {"Settings", "Judge check", "Known agreement"}


def test_rules_and_recordings_were_sent_nothing() -> None:
    found = told(dataclasses.replace(judged(), generation={}))
    assert not any("decoding" in label or "prompts" in label for label in found)


def test_only_what_must_be_seen_at_once_is_brief() -> None:
    brief = {fact.label for fact in facts(judged(), SPEC) if fact.brief}
    assert brief.isdisjoint({"Settings", "Judge: prompts", "Signs"})
    part = dataclasses.replace(judged(), suspicious=Suspicious(1, 9, {"score": 1}))
    (signs,) = (fact for fact in facts(part, SPEC) if fact.label == "Signs")
    assert (signs.brief, signs.warning) == (True, True)
