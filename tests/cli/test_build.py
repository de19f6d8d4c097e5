"""`caliper build captionqa` with scripted models, in one process."""

import asyncio
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended
from tests.fakes.question_writer import writing
from tests.fakes.sources import EXAMPLES

BUILDING = EXAMPLES / "building"
PICTURES = ("coffee.jpg", "tea_box.png")


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in PICTURES:
        shutil.copy(EXAMPLES / "media" / "images" / name, folder)
    return folder


def words(images: Path, *more: str) -> tuple[str, ...]:
    taxonomy = ("--taxonomy", str(BUILDING / "taxonomy.yaml"))
    return ("build", "captionqa", *taxonomy, "--images", str(images), "--out", "out", *more)


def by_models(server: ChatServer) -> tuple[str, ...]:
    spec = f"tgi:{server.url}"
    return ("--generator", spec, "--blind", spec, "--validator", spec, "--validator", spec)


async def run(folder: Path, *arguments: str, code: int = 0) -> Ended:
    return await asyncio.to_thread(Command(folder), *arguments, code=code)


def steps(ended: Ended) -> dict[str, Any]:
    return {step["step"]: step for step in ended.told["steps"]}


def candidates(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "out" / "candidates.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


async def test_from_pictures_to_candidates(tmp_path: Path, images: Path) -> None:
    async with ChatServer(otherwise=writing) as server:
        told = await run(tmp_path, *words(images, *by_models(server), "--json"))
        asked = len(server.requests)
        again = await run(tmp_path, *words(images, *by_models(server), "--json"))
        assert again.told == told.told
        assert len(server.requests) == asked
    found = steps(told)
    # Twenty categories: one reply is unreadable, one empty, two hold two questions.
    assert found["1-questions"]["came"] == 2 * 20
    assert found["1-questions"]["remarks"] == [
        "2 of 40 replies of fake/judge-8b (tgi, 0123456789ab): unreadable"
    ]
    assert found["2-formats"]["dropped"] == {"answer is no option": 2}
    assert found["3-blind"]["dropped"] == {"answered without the picture": 2}
    assert found["4-duplicates"]["dropped"] == {"near duplicate": 2}
    assert (told.told["accept"], told.told["review"]) == (2 * 16, 2)
    decisions = Counter(each["decision"] for each in candidates(tmp_path))
    assert decisions == {"accept": 32, "review": 2}
    (first, _) = (each for each in candidates(tmp_path) if each["decision"] == "review")
    told_by_both = [f"validator {n}: None of the options above is correct" for n in (1, 2)]
    assert first["reasons"] == told_by_both
    assert told.told["coverage"]["Things - Absence"] == 0
