"""`caliper build captionqa` with scripted models, in one process."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, run, steps
from tests.fakes.question_writer import writing, written
from tests.fakes.sources import EXAMPLES

BUILDING = EXAMPLES / "building"
PICTURE = "coffee.jpg"


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    shutil.copy(EXAMPLES / "media" / "images" / PICTURE, folder)
    return folder


def words(images: Path, *more: str) -> tuple[str, ...]:
    taxonomy = ("--taxonomy", str(BUILDING / "taxonomy.yaml"))
    return ("build", "captionqa", *taxonomy, "--images", str(images), "--out", "out", *more)


def by_models(server: ChatServer) -> tuple[str, ...]:
    spec = f"tgi:{server.url}"
    return ("--generator", spec, "--blind", spec, "--validator", spec, "--validator", spec)


def candidates(folder: Path) -> list[dict[str, Any]]:
    return tiny.read_lines(folder / "out" / "candidates.jsonl")


def review(folder: Path, *verdicts: str) -> None:
    """A reviewer gives verdicts on the first candidates."""
    lines = [
        {**each, "verdict": verdict, "reason": "", "time": "2026-11-26T06:10:16Z"}
        for each, verdict in zip(candidates(folder), verdicts, strict=False)
    ]
    reviews = folder / "out" / "reviews"
    reviews.mkdir(exist_ok=True)
    reviews.joinpath("ann.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


async def test_from_pictures_to_candidates(tmp_path: Path, images: Path) -> None:
    async with ChatServer(otherwise=writing) as server:
        told = await run(tmp_path, *words(images, *by_models(server), "--json"))
        asked = len(server.requests)
        again = await run(tmp_path, *words(images, *by_models(server), "--json"))
        assert again.told == told.told
        assert len(server.requests) == asked
    found = steps(told)
    # Twenty categories: one reply is unreadable, one empty, two hold two questions.
    assert found["1-questions"]["came"] == 20
    assert found["1-questions"]["remarks"] == [
        "1 of 20 replies of fake/judge-8b (tgi, 0123456789ab): unreadable"
    ]
    assert found["2-formats"]["dropped"] == {"answer is not an option": 1}
    assert found["3-blind"]["dropped"] == {"answered without the picture": 1}
    assert found["4-duplicates"]["dropped"] == {"near duplicate": 1}
    assert (told.told["accept"], told.told["review"]) == (16, 1)
    decisions = Counter(each["decision"] for each in candidates(tmp_path))
    assert decisions == {"accept": 16, "review": 1}
    (first,) = (each for each in candidates(tmp_path) if each["decision"] == "review")
    told_by_both = [f"validator {n}: None of the options above is correct" for n in (1, 2)]
    assert first["reasons"] == told_by_both
    assert told.told["coverage"]["Things - Absence"] == 0


async def test_a_build_that_is_cut_off_goes_on(tmp_path: Path, images: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    for folder in (whole, part):
        folder.mkdir()
    async with ChatServer(otherwise=writing) as server:
        spec = by_models(server)
        await run(whole, *words(images, *spec, "--quiet"))
        needed = len(server.requests)
        server.requests.clear()
        # In the first step, and twice in the last that asks a model.
        for calls in ("10", "220", "20"):
            cut = await run(part, *words(images, *spec, "--max-calls", calls, "--quiet"), code=1)
            assert "Rerun the same command to resume." in cut.err
            assert not (part / "out" / "candidates.jsonl").exists()
        # What the first validator has answered is not counted again.
        await run(part, *words(images, *spec, "--max-calls", "20", "--quiet"))
        assert len(server.requests) == needed
        assert candidates(part) == candidates(whole)
        # A setting of the last step: nothing is asked, and nothing else is done again.
        told = await run(part, *words(images, *spec, "--per-category", "1"))
        assert len(server.requests) == needed
        await run(part, "build", "finish", "out", "--quiet")
        again = ("--per-category", "1", "--votes", "9", "--max-calls", "1")
        await run(part, *words(images, *spec, *again), code=1)
        refused = await run(part, "build", "finish", "out", code=2)
        assert "the build stopped before its last step" in refused.err
    assert told.out.count("(unchanged)") == 5
    assert "6-balance: 17 in, 17 kept" in told.out


async def test_another_picture_is_asked_about_and_one_bad_reply_stops_nothing(
    tmp_path: Path, images: Path
) -> None:
    async with ChatServer(otherwise=writing) as server:
        flags = ("--generator", f"tgi:{server.url}", "--most", "1", "--json")
        before = (await run(tmp_path, *words(images, *flags))).told
        asked = len(server.requests)
        (images / "broken.png").write_bytes(b"no picture")
        (images / ".trash").mkdir()
        (images / ".trash" / "old.png").write_bytes(b"no picture of this build")
        after = (await run(tmp_path, *words(images, *flags))).told
        # Replies about the pictures that were there are those of the store.
        assert len(server.requests) == asked
        before_another = candidates(tmp_path)
        shutil.copy(EXAMPLES / "media" / "images" / "tea_box.png", images / PICTURE)
        await run(tmp_path, *words(images, *flags))
        # The scripted questions have a digest of the picture in them.
        ids = [{each["id"] for each in found} for found in (before_another, candidates(tmp_path))]
        assert ids[0].isdisjoint(ids[1])
    first, then = before["steps"][0], after["steps"][0]
    assert then["came"] == first["came"] == 18
    assert any("20 of 40 replies" in remark and "bad_input" in remark for remark in then["remarks"])


def test_without_any_model(caliper: Command, tmp_path: Path) -> None:
    pictures = EXAMPLES / "media" / "images"
    flags = ("--questions", str(BUILDING / "questions.jsonl"), "--json")
    found = steps(caliper(*words(pictures, *flags), code=0))
    assert [each["skipped"] != "" for each in found.values()] == [
        False,
        False,
        True,
        False,
        True,
        True,
    ]
    assert sum(found["2-formats"]["dropped"].values()) == 4
    assert found["4-duplicates"]["dropped"] == {"near duplicate": 1}
    ended = caliper("build", "finish", "out", code=2)
    assert "no question is accepted yet" in ended.err
    review(tmp_path, "reject", *["accept"] * 9)
    told = caliper("build", "finish", "out", "--json", code=0).told
    assert (told["accept"], told["reject"], told["pending"], told["disputed"]) == (9, 1, 1, 0)
    card = Path(tmp_path, told["card"]).read_text()
    assert "9 accepted (0 edited), 1 rejected. Left out: 1 that nobody reviewed" in card
    (tmp_path / "captions.json").write_text('{"coffee": "A red saucer."}')
    (data,) = told["data"]
    evaluate = ("evaluate", "captionqa", "--data", data, "--captions", "captions.json")
    report = caliper(*evaluate, "--no-anchors", "--json").told
    assert "household" in report["benchmarks"]["captionqa"]["domains"]


def test_a_verdict_is_about_the_picture_that_was_shown(
    caliper: Command, tmp_path: Path, images: Path
) -> None:
    asked = {"image": PICTURE, "question": "What is it?", "choices": ["a cup", "a jug"]}
    asked |= {"answer": "a cup", "category": "Things - Kind", "id": "q1"}
    (tmp_path / "asked.jsonl").write_text(json.dumps(asked) + "\n")
    build = words(images, "--questions", "asked.jsonl")
    caliper(*build, code=0)
    review(tmp_path, "accept")
    caliper("build", "finish", "out", code=0)
    (row,) = json.loads((tmp_path / "out" / "captionqa.json").read_text())
    assert [each["id"] for each in row["questions"]] == ["q1"]
    shutil.copy(EXAMPLES / "media" / "images" / "tea_box.png", images / PICTURE)
    shown = ("build", "review", "out", "--reviewer", "ann", "--images", "pictures")
    assert f"pictures/{PICTURE}: not the medium of the build" in caliper(*shown, code=2).err
    caliper(*build, code=0)
    ended = caliper("build", "finish", "out", code=2)
    assert "no question is accepted yet" in ended.err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ((), "nobody writes questions: give --generator SPEC or --questions FILE"),
        (("--generator", "lexical"), "cannot look at pictures"),
        (
            ("--generator", "tgi:x", "--validator", "tgi:y"),
            "expected 2 validators or none, found 1",
        ),
        (("--questions", "lost.jsonl"), "lost.jsonl:1: image: no such picture: 'lost.jpg'"),
        (
            ("--questions", "broken.jsonl"),
            "broken.jsonl:2: choices: expected 2 to 26 choices, found 1",
        ),
        (("--generator", "tgi:x", "--taxonomy", "street.yaml"), "Choose one with --domain"),
        (("--generator", "tgi:x", "--domain", "street"), "the taxonomy has no 'street'"),
        (
            (*("--generator", "tgi:x") * 11, "--most", "10"),
            "most: up to 2,200 questions about a picture, more than 2,000",
        ),
        (("--generator", "tgi:x", "--cohesion", "0.99"), "cohesion: higher than --similarity"),
        (("--generator", "tgi:x", "--set", "tokens=3"), "unknown setting 'tokens'"),
    ],
)
def test_bad_input(
    caliper: Command, tmp_path: Path, images: Path, flags: tuple[str, ...], told: str
) -> None:
    (tmp_path / "street.yaml").write_text("street: {Signs: [Kind]}\n")
    good = {"image": PICTURE, "question": "What is it?", "category": "Things - Kind"}
    good |= {"answer": "a cup"}
    lost = json.dumps({**good, "image": "lost.jpg", "choices": ["a cup", "a jug"]})
    broken = json.dumps({**good, "choices": ["a cup"]})
    first = json.dumps({**good, "choices": ["a cup", "a jug"]})
    for name, lines in (("lost", lost), ("broken", f"{first}\n{broken}")):
        (tmp_path / f"{name}.jsonl").write_text(f"{lines}\n")
    ended = caliper(*words(images, *flags), code=2)
    assert told in ended.err


def test_a_folder_with_other_files_is_left_alone(caliper: Command, images: Path) -> None:
    (images.parent / "out").mkdir()
    (images.parent / "out" / "thesis.tex").write_text("x")
    ended = caliper(*words(images, "--generator", "tgi:x"), code=2)
    assert "contains thesis.tex but no build" in ended.err


def test_recorded_replies_write_questions(caliper: Command, tmp_path: Path, images: Path) -> None:
    replies = [written("Things - Kind", "abc"), "no questions here"]
    rows = [
        {"item": PICTURE, "question": number, "response": reply}
        for number, reply in enumerate(replies)
    ]
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = caliper(*words(images, "--generator", "replay:said.jsonl", "--json"), code=0)
    (first, *_) = told.told["steps"]
    assert first["came"] == 1
    assert [remark.partition(": ")[2] for remark in first["remarks"]] == ["no_reply", "unreadable"]
    assert candidates(tmp_path)[0]["category"] == "Things - Kind"
    rows[1]["response"] = written("Things - Count", "abc")
    (tmp_path / "said.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = caliper(*words(images, "--generator", "replay:said.jsonl", "--json"), code=0)
    assert told.told["steps"][0]["came"] == 2
