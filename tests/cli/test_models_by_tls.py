import asyncio
from pathlib import Path

from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.certificates import Pair
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended

RIGHT = fake.answer('{"score": 1, "reason": "so says the server"}')
EVALUATE = (
    "evaluate",
    "capability",
    "--data",
    "data",
    "--captions",
    "captions",
    "--quiet",
    "--no-anchors",
)


async def run(folder: Path, *words: str, code: int, ca: str = "tls/ca.pem") -> Ended:
    given = {"CALIPER_TOKEN": "a-secret"} | ({"CALIPER_CA": str(folder / ca)} if ca else {})
    return await asyncio.to_thread(Command(folder, given), *words, code=code)


async def test_a_judge_by_tls_and_what_the_doctor_says_of_it(ours: Pair, tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 3)
    async with ChatServer(otherwise=RIGHT, tls=ours, token="a-secret") as server:
        judge = f"tgi:{server.url}"
        await run(tmp_path, *EVALUATE, "--judge", judge, code=0)
        assert len(server.requests) == 3
        told = await run(tmp_path, "doctor", judge, "--json", code=0)
        assert told.told["ok"]


async def test_who_is_not_trusted_ends_the_command_at_once(ours: Pair, tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 3)
    async with ChatServer(otherwise=RIGHT, tls=ours, token="a-secret") as server:
        judge = f"tgi:{server.url}"
        ended = await run(tmp_path, *EVALUATE, "--judge", judge, code=4, ca="")
        assert "certificate is not trusted" in ended.err
        assert "a-secret" not in ended.err
        told = await run(tmp_path, "doctor", judge, code=1, ca="")
        assert "CALIPER_CA" in " ".join(told.out.split())
        ended = await run(tmp_path, *EVALUATE, "--judge", judge, code=2, ca="absent.pem")
        assert "absent.pem" in ended.err
        assert server.requests == []
