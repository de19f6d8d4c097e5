import json
from pathlib import Path

from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import run
from tests.fakes.multimodal_checkpoint import asked_live, asks_letter, seeing

from caliper.local.config import config_values


async def test_captions_and_answers_of_one_checkpoint(tmp_path: Path) -> None:
    async with ChatServer(otherwise=seeing) as server:
        tiny.value(tmp_path / "run.yaml", config_values(asked_live(f"tgi:{server.url}")))
        flags = ("evaluate", "--config", "run.yaml")
        told = await run(tmp_path, "plan", *flags[1:], "--json", code=0)
        await run(tmp_path, *flags, "--quiet", "--out", "run", code=0)
        questions = [asked.body for asked in server.requests if asks_letter(asked.body)]
        planned = sum(part["calls"] for part in told.told["benchmarks"])
        rows = tiny.read_lines(tmp_path / "run" / "verdicts.jsonl")
        from_media = [row for row in rows if row["item"].startswith("qa/")]
        assert planned >= len(from_media) >= len(questions) > 20
        assert {row["judge"] for row in from_media} == {"fake/judge-8b (tgi, 0123456789ab)"}
        assert not {row["reason"] for row in from_media} - {""}
        server.requests.clear()
        assert "nothing was asked" in (await run(tmp_path, *flags, "--out", "run", code=0)).out
        await run(tmp_path, *flags, "--quiet", "--out", "again", code=0)
        assert server.requests == []
    report = (tmp_path / "run" / "report.json").read_bytes()
    assert (tmp_path / "again" / "report.json").read_bytes() == report
    found = json.loads(report)["benchmarks"]
    assert 0 <= found["capability"]["average"]["kt_bar"] <= 100
    assert set(found["captionqa"]["utility_gap"]) > {"overall"}
    assert set(found["comprecap"]["compreqa"]) == {"p", "cap"}
