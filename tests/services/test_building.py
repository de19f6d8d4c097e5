"""A build on real Kafka and MinIO: the same candidates as in one process, to the byte."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.command import Command
from tests.fakes.question_writer import writing
from tests.fakes.separate import STAGES, Ground
from tests.fakes.separate import installation as installed
from tests.fakes.sources import EXAMPLES
from tests.servers.access import access_to


def words(images: Path, model: str, out: str) -> tuple[str, ...]:
    taxonomy = ("--taxonomy", str(EXAMPLES / "building" / "taxonomy.yaml"))
    models = ("--generator", model, "--blind", model, "--validator", model, "--validator", model)
    return ("build", "captionqa", *taxonomy, "--images", str(images), "--out", out, *models)


async def test_the_candidates_are_those_of_one_process(ground: Ground, tmp_path: Path) -> None:
    images = tmp_path / "pictures"
    images.mkdir()
    for name in ("coffee.jpg", "tea_box.png"):
        shutil.copy(EXAMPLES / "media" / "images" / name, images)
    access = access_to(ground.minio, ground.bucket)
    caliper = Command(
        tmp_path,
        {
            "CALIPER_STORE": access.url,
            "CALIPER_STORE_BUCKET": ground.bucket,
            "CALIPER_STORE_ACCESS_KEY": access.access_key,
            "CALIPER_STORE_SECRET_KEY": access.secret_key,
        },
    )
    chats = {kind: ChatServer(otherwise=writing) for kind in STAGES}
    async with installed(ground, chats) as there:
        chat = chats["captioner"]
        server = ("--server", f"127.0.0.1:{there.ports['gateway']}")

        async def told(*arguments: str, code: int = 0) -> Any:
            ended = await asyncio.to_thread(caliper, *arguments, "--json", code=code)
            return ended.told

        # Cut off, it stops as in one process, and goes on from there.
        cut = await told(*words(images, MODEL, "there"), *server, "--max-calls", "30", code=1)
        assert "20 budget" in cut["stopped"]
        there_told = await told(*words(images, MODEL, "there"), *server)
        asked = len(chat.requests)
        assert await told(*words(images, MODEL, "again"), *server) == there_told
        # Known to the installation: nothing is asked twice.
        assert len(chat.requests) == asked
        chat.requests.clear()
        assert await told(*words(images, f"tgi:{chat.url}", "here")) == there_told
        assert len(chat.requests) == asked
    for file in (
        "candidates.jsonl",
        *(f"steps/{step}.jsonl" for step in ("1-questions", "3-blind")),
    ):
        here = (tmp_path / "here" / file).read_bytes()
        assert (tmp_path / "there" / file).read_bytes() == here
