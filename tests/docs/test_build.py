"""docs/build.md: the walk from pictures to scores, with a scripted model for every step."""

import asyncio
import json
import shlex
import shutil
import subprocess
from pathlib import Path

from tests.docs.pages import blocks
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command
from tests.fakes.question_writer import writing
from tests.fakes.sources import EXAMPLES

MODEL = "http://127.0.0.1:808"


def follow(folder: Path, block: str, server: ChatServer) -> list[str]:
    """Do what a block says; returns what the commands print."""
    printed = []
    for line in block.splitlines():
        words = [f"tgi:{server.url}" if MODEL in word else word for word in shlex.split(line)]
        if words[0] == "caliper":
            printed.append(Command(folder)(*words[1:], code=0).out)
        else:
            subprocess.run(words, cwd=folder, check=True)
    return printed


def review(build: Path) -> None:
    """Two reviewers accept, but disagree about one question."""
    text = (build / "candidates.jsonl").read_text()
    open_ones = [row for row in map(json.loads, text.splitlines()) if row["decision"] == "review"]
    (build / "reviews").mkdir()
    for name, first in (("ana", "accept"), ("ben", "reject")):
        verdicts = [first, *["accept"] * (len(open_ones) - 1)]
        lines = [
            json.dumps({**row, "verdict": verdict, "reason": "", "time": "2026-11-26T06:10:16Z"})
            for row, verdict in zip(open_ones, verdicts, strict=True)
        ]
        (build / "reviews" / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


async def test_the_walk(tmp_path: Path) -> None:
    (tmp_path / "examples" / "media").mkdir(parents=True)
    for part in ("building", "media/images"):
        shutil.copytree(EXAMPLES / part, tmp_path / "examples" / part)
    by_hand, by_models, ending, *_ = blocks("build.md", "bash")
    async with ChatServer(otherwise=writing) as server:
        (tried,) = await asyncio.to_thread(follow, tmp_path, by_hand, server)
        assert server.requests == []
        assert "2-formats: 16 in, 12 kept, 4 dropped" in tried
        (built,) = await asyncio.to_thread(follow, tmp_path, by_models, server)
    assert "3-blind: 57 in, 54 kept, 3 dropped" in built
    assert "48 accepted, 3 to review" in " ".join(built.split())
    review(tmp_path / "built")
    (tmp_path / "captions.json").write_text(
        json.dumps(dict.fromkeys(("coffee", "tea_box", "wine_room"), "A red saucer."))
    )
    told, scored = await asyncio.to_thread(follow, tmp_path, ending, server)
    assert told.startswith("50 questions, 48 of which nobody reviewed; left out: 0 rejected")
    assert "Household" in scored
    card = (tmp_path / "built" / "card.md").read_text()
    assert "- 3-blind: fake/judge-8b (tgi, 0123456789ab)" in card
    assert "prompt building/validate: SHA-256" in card
    assert "Of the 50 questions that are here, nobody reviewed 48." in card
    assert "Agreement on 3 questions, with 95% intervals: share 0.67" in card


async def test_annotations_of_the_examples(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    for part in ("capability", "media"):
        shutil.copytree(EXAMPLES / part, tmp_path / "examples" / part)
    *_, by_hand, _ = blocks("build.md", "bash")
    async with ChatServer() as server:
        (told,) = await asyncio.to_thread(follow, tmp_path, by_hand, server)
        assert server.requests == []
    assert "6-balance: 118 in, 52 kept, 66 dropped" in told
    review(tmp_path / "elements")
    (finished,) = follow(tmp_path, "caliper build finish elements", server)
    assert finished.startswith("51 annotations, 0 of which nobody reviewed; left out: 0 rejected")
    assert "0 not reviewed, 1 disputed" in finished


async def test_scene_graphs_of_the_examples(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(EXAMPLES)
    *_, by_hand = blocks("build.md", "bash")
    async with ChatServer() as server:
        (told,) = await asyncio.to_thread(follow, tmp_path, by_hand, server)
    assert "2-masks: 43 in, 29 kept, 14 dropped" in told
    assert "55 accepted, 0 to review" in told
