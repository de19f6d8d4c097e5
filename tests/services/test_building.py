"""Builds on real Kafka and MinIO: the same candidates as in one process, to the byte."""

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.fakes.annotators import annotating
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.command import Command
from tests.fakes.question_writer import words, writing
from tests.fakes.scene_writer import scene_writing
from tests.fakes.separate import JOBS, STAGES, Ground
from tests.fakes.separate import installation as installed
from tests.fakes.sources import EXAMPLES
from tests.servers.access import access_to, variables_of

from caliper.building.captionqa.blind import VOTES

GIVEN = {"file_path": "coffee.jpg", "task": "object_category", "annotation": "mug"}
IMAGES = ("--images", "pictures")
INPUTS = {
    "captionqa": (*IMAGES, "--taxonomy", str(EXAMPLES / "building" / "taxonomy.yaml")),
    "capability": ("--media", "pictures", "--annotations", "given.jsonl", "--task", GIVEN["task"]),
    "comprecap": (*IMAGES, "--scenes", "scenes.json", "--coverage", "0"),
}
ROLES = {
    "captionqa": ("--generator", "--blind", "--validator", "--validator"),
    "capability": ("--annotator", "--merger"),
    "comprecap": ("--describer", "--generator"),
}

MODELLED = {"captionqa": 4, "capability": 2, "comprecap": 2}
"""Steps that ask a model: of CaptionQA, also the default embedder."""


def build(benchmark: str, model: str, out: str) -> Sequence[str]:
    models = [word for role in ROLES[benchmark] for word in (role, model)]
    return ("build", benchmark, *INPUTS[benchmark], *models, "--out", f"{benchmark}-{out}")


async def answering(
    server: ChatServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    text, _ = words(body)
    if "visual elements" in text:
        return await annotating("red")(server, request, body)
    if "multiple-choice" in text:
        return await writing(server, request, body)
    return await scene_writing(server, request, body)


def inputs(folder: Path) -> None:
    """Two pictures, an annotation, and objects without descriptions."""
    (folder / "pictures").mkdir()
    for name in ("coffee.jpg", "tea_box.png"):
        shutil.copy(EXAMPLES / "media" / "images" / name, folder / "pictures")
    rows = json.loads((EXAMPLES / "comprecap" / "anno.json").read_text())
    for row in rows:
        for each in row["info"]:
            del each["short_description"], each["extend_description"]
    (folder / "given.jsonl").write_text(json.dumps(GIVEN) + "\n")
    (folder / "scenes.json").write_text(json.dumps(rows))


def check_files(folder: Path, benchmark: str) -> None:
    """Both builds have the same candidates, and the same in every step."""
    here, away = (folder / f"{benchmark}-{place}" for place in ("here", "there"))
    for file in ("candidates.jsonl", *(f"steps/{path.name}" for path in here.glob("steps/*"))):
        assert (away / file).read_bytes() == (here / file).read_bytes()


async def test_the_candidates_are_those_of_one_process(ground: Ground, tmp_path: Path) -> None:
    inputs(tmp_path)
    access = access_to(ground.minio, ground.bucket)
    caliper = Command(tmp_path, variables_of(access, ground.bucket))
    chats = {kind: ChatServer(otherwise=answering) for kind in STAGES}
    async with installed(ground, chats) as there:
        chat = chats["captioner"]
        server = ("--server", f"127.0.0.1:{there.ports['gateway']}")

        async def told(*arguments: str, code: int = 0) -> Any:
            ended = await asyncio.to_thread(caliper, *arguments, "--json", code=code)
            return ended.told

        # Cut off, it stops as in one process, and goes on from there.
        first = build("captionqa", MODEL, "there")
        cut = await told(*first, *server, "--max-calls", "30", code=1)
        assert "20 budget" in cut["stopped"]
        for benchmark in INPUTS:
            there_told = await told(*build(benchmark, MODEL, "there"), *server)
            if benchmark == "captionqa":
                asked = len(chat.requests)
                assert await told(*build(benchmark, MODEL, "again"), *server) == there_told
                # Known to the installation: nothing is asked twice.
                assert len(chat.requests) == asked
            asked = len(chat.requests)
            chat.requests.clear()
            assert await told(*build(benchmark, f"tgi:{chat.url}", "here")) == there_told
            assert len(chat.requests) == asked
            chat.requests.clear()
            assert sum(bool(step["models"]) for step in there_told["steps"]) == MODELLED[benchmark]
            check_files(tmp_path, benchmark)


async def test_a_captioner_that_is_killed_amid_a_build_changes_nothing(
    ground: Ground, tmp_path: Path
) -> None:
    inputs(tmp_path)
    caliper = Command(tmp_path, variables_of(access_to(ground.minio, ground.bucket), ground.bucket))
    chats = {kind: ChatServer(otherwise=answering, delay=0.01) for kind in STAGES}
    async with installed(ground, chats) as there:
        requests = chats["captioner"].requests
        server = ("--server", f"127.0.0.1:{there.ports['gateway']}")
        away = (*build("captionqa", MODEL, "there"), *server)
        building = asyncio.create_task(asyncio.to_thread(caliper, *away, code=0))
        # Amid the answers without the picture.
        await there.asked("captioner", 100)
        await there.kill("captioner")
        before = len(requests)
        await there.again("captioner")
        await building
        asked = len(requests)
        requests.clear()
        here = build("captionqa", f"tgi:{chats['captioner'].url}", "here")
        await asyncio.to_thread(caliper, *here, code=0)
    assert before < len(requests) <= asked <= len(requests) + JOBS * VOTES
    check_files(tmp_path, "captionqa")
