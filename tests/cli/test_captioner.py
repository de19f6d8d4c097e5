"""A checkpoint behind an endpoint captions pictures and clips; rules judge what it wrote."""

import asyncio
import base64
import io
import json
import shutil
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from PIL import Image
from tests.fakes import chat_server as fake
from tests.fakes import chat_trouble, tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended, end

CLIP = Path(__file__).parents[2] / "examples" / "media" / "videos" / "waving.mp4"
CAPTION = fake.answer("A man waves in a park. ")
PICTURES = 6


def words(server: ChatServer, out: str = "run") -> tuple[str, ...]:
    return (
        *("evaluate", "capability", "--data", "data", "--captioner", f"tgi:{server.url}"),
        *("--concurrency", "2", "--out", out),
    )


async def run(folder: Path, server: ChatServer, *more: str, out: str = "run", code: int) -> Ended:
    return await asyncio.to_thread(Command(folder), *words(server, out), *more, code=code)


def shown(body: Any) -> list[Image.Image]:
    (message,) = body["messages"]
    urls = [part["image_url"]["url"] for part in message["content"] if "image_url" in part]
    assert all(url.startswith("data:image/jpeg;base64,") for url in urls)
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in urls]


async def test_captions_that_were_cut_short_are_counted_and_shown(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, PICTURES)
    cut = fake.answer("A man waves in a", finish="length")
    async with ChatServer([cut, CAPTION, cut], otherwise=CAPTION) as server:
        ended = await run(tmp_path, server, code=0)
        report = (tmp_path / "run" / "report.json").read_text()
        assert json.loads(report)["benchmarks"]["capability"]["truncated_captions"] == 2
        note = "2 of 6 captions ran into the limit of output tokens"
        assert note in " ".join(ended.out.split())
        assert note in (tmp_path / "run" / "report.md").read_text()
        kept = tiny.read_lines(tmp_path / "run" / "captions.jsonl")
        assert (
            sorted(row["caption"] for row in kept if row.get("truncated"))
            == ["A man waves in a"] * 2
        )
        # From the kept captions, and from the store, it is the same report.
        for out in ("run", "again"):
            await run(tmp_path, server, out=out, code=0)
            assert (tmp_path / out / "report.json").read_text() == report
        assert len(server.requests) == PICTURES


async def test_pictures_and_a_clip_are_captioned_once_each(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, 2)
    for task, annotation in (("event", "A man waves"), ("action", "waving")):
        made = tiny.element(task, "event_1", annotation, "video") | {"file_path": "waving.mp4"}
        tiny.lines(tmp_path / "data" / f"{task}.jsonl", [made])
    shutil.copy(CLIP, tmp_path / "data")
    async with ChatServer(otherwise=CAPTION) as server:
        ended = await run(tmp_path, server, code=0)
        # An action rides on the video of its event.
        assert sorted(len(shown(asked.body)) for asked in server.requests) == [1, 1, 8]
        assert {asked.body["max_tokens"] for asked in server.requests} == {8192}
        assert "4 of 4 askable questions scored" in ended.out
        server.requests.clear()
        assert "nothing was asked" in (await run(tmp_path, server, code=0)).out
        await run(tmp_path, server, out="again", code=0)
        assert server.requests == []
    kept = tiny.read_lines(tmp_path / "run" / "captions.jsonl")
    assert [row["sample"] for row in kept] == ["scene/s00000", "scene/s00001", "event/event_1"]
    assert {row["caption"] for row in kept} == {"A man waves in a park."}
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    # Called after the model, not after the place where it was.
    assert report["name"] == "judge-8b"
    assert server.url.rpartition(":")[2] not in json.dumps(report)
    models = report["benchmarks"]["capability"]["models"]
    assert models["captioner"].startswith("fake/judge-8b (tgi, ")
    assert models["judge"].startswith("lexical")


async def test_after_a_kill_nothing_is_captioned_twice(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, PICTURES)
    async with ChatServer([CAPTION] * 3, otherwise=chat_trouble.never()) as server:
        process = Command(tmp_path).start(*words(server))
        await server.until_received(5)
        await asyncio.to_thread(end, process, signal.SIGKILL)
        # The store may go: what was captioned stands in the run's own directory.
        shutil.rmtree(tmp_path / ".store")
        server.from_now_on(CAPTION)
        await run(tmp_path, server, code=0)
        asked = Counter(shown(asked.body)[0].getpixel((20, 15)) for asked in server.requests)
        assert sorted(asked.values()) == [1, 1, 1, 1, 2, 2]
        await run(tmp_path, server, "--store", "another", out="undisturbed", code=0)
    for name in ("report.json", "captions.jsonl", "verdicts.parquet"):
        found = (tmp_path / "run" / name).read_bytes()
        assert found == (tmp_path / "undisturbed" / name).read_bytes(), name


async def test_pictures_that_cannot_be_captioned(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, PICTURES)
    data = tmp_path / "data"
    (data / "s00000.jpg").unlink()
    whole = (data / "s00001.jpg").read_bytes()
    (data / "s00001.jpg").write_bytes(whole[: len(whole) // 2])
    bomb = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    (data / "s00002.jpg").write_bytes(bomb.getvalue())
    (data / "s00003.jpg").write_text("no picture")
    async with ChatServer(otherwise=CAPTION) as server:
        ended = await run(tmp_path, server, code=1)
        assert len(server.requests) == 2
    told = tiny.read_lines(tmp_path / "run" / "verdicts.jsonl")
    assert [row["reason"] for row in told] == ["media_missing", *["bad_input"] * 3, "", ""]
    assert "s00000.jpg" in told[0]["explanation"]
    assert "pixels" in told[2]["explanation"]
    assert "unscored: 3 bad_input (50.00%), 1 media_missing (16.67%)" in ended.out
    assert (tmp_path / "run" / "report.html").exists()


async def test_a_prompt_that_the_benchmark_does_not_have(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, PICTURES)
    async with ChatServer(otherwise=CAPTION) as server:
        ended = await run(tmp_path, server, "--prompt", "taxonomy", code=2)
        assert "unknown caption prompt of capability 'taxonomy'; known: simple" in ended.err
        assert server.requests == []
        told = await asyncio.to_thread(
            Command(tmp_path), "plan", *words(server)[1:], "--json", code=0
        )
        assert told.told["benchmarks"][0]["captions_to_write"] == PICTURES


async def test_how_long_captions_may_be_is_part_of_the_run(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, 1)
    said = fake.status(
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 8300 tokens "
        "(108 in the messages, 8192 in the completion).",
    )
    async with ChatServer([said], otherwise=CAPTION) as server:
        await run(tmp_path, server, code=1)
        await run(tmp_path, server, "--caption-tokens", "1024", out="less", code=0)
        part = {"data": "data", "captioner": f"tgi:{server.url}", "caption_tokens": 2048}
        (tmp_path / "run.yaml").write_text(yaml.safe_dump({"benchmarks": {"capability": part}}))
        config = ("evaluate", "--config", "run.yaml", "--out", "config")
        await asyncio.to_thread(Command(tmp_path), *config, code=0)
        asked = [request.body["max_tokens"] for request in server.requests]
    assert asked == [8192, 1024, 2048]
    (verdict,) = tiny.read_lines(tmp_path / "run" / "verdicts.jsonl")
    assert verdict["reason"] == "backend"
    assert "lower --caption-tokens" in verdict["explanation"]
    outs = ("run", "less", "config")
    reports = [json.loads((tmp_path / out / "report.json").read_text()) for out in outs]
    told = [report["benchmarks"]["capability"]["settings"] for report in reports]
    assert [settings["caption_tokens"] for settings in told] == ["8192", "1024", "2048"]
    runs = [tiny.execution(tmp_path / out)["run"] for out in outs]
    assert len(set(runs)) == 3


async def test_what_the_checkpoint_is_shown_is_part_of_the_run(tmp_path: Path) -> None:
    made = tiny.element("event", "event_1", "A man waves", "video") | {"file_path": "waving.mp4"}
    tiny.lines(tmp_path / "data" / "event.jsonl", [made])
    shutil.copy(CLIP, tmp_path / "data")
    asked = ("--preparation", "frames=3", "--preparation", "longest=64")
    async with ChatServer(otherwise=CAPTION) as server:
        await run(tmp_path, server, code=0)
        await run(tmp_path, server, *asked, out="less", code=0)
        part = {"data": "data", "captioner": f"tgi:{server.url}"}
        written = {"capability": {**part, "preparation": {"fps": 30, "frames": 3}}}
        (tmp_path / "run.yaml").write_text(yaml.safe_dump({"benchmarks": written}))
        caliper = Command(tmp_path)
        config = ("evaluate", "--config", "run.yaml", "--preparation", "frames=2")
        await asyncio.to_thread(caliper, *config, "--out", "config", code=0)
        sizes = [[max(image.size) for image in shown(asked.body)] for asked in server.requests]
    assert sizes == [[480] * 8, [64] * 3, [480] * 2]
    reports, runs = (
        [json.loads((tmp_path / out / name).read_text()) for out in ("run", "less", "config")]
        for name in ("report.json", "execution.json")
    )
    told = [report["benchmarks"]["capability"]["settings"] for report in reports]
    assert [settings["frames"] for settings in told] == [
        "8, evenly", "3, evenly", "30 a second, at most 2"
    ]  # fmt: skip
    assert told[1]["images"] == "at most 64 pixels a side, JPEG 90, 1400000 bytes"
    assert len({each["run"] for each in runs}) == 3


async def test_media_over_a_bound_are_no_caption(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, 2)
    async with ChatServer(otherwise=CAPTION) as server:
        caliper = Command(tmp_path, {"CALIPER_MEDIA_PIXELS": "1199"})
        ended = await asyncio.to_thread(caliper, *words(server), code=1)
        assert server.requests == []
    assert "0 of 2 askable questions scored" in ended.out
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["benchmarks"]["capability"]["coverage"]["unscored"] == {"bad_input": 2}
