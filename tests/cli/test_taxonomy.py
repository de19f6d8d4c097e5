"""The caption prompt that lists a taxonomy, as users give their own."""

import asyncio
import json
from pathlib import Path

from PIL import Image
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command


def picture(path: Path) -> None:
    Image.new("RGB", (40, 30), (7, 99, 0)).save(path)


async def test_a_taxonomy_of_our_own_hints_the_captioner(tmp_path: Path) -> None:
    tiny.write_all(tmp_path)
    for name in ("nat_1.jpg", "doc_1.jpg"):
        picture(tmp_path / name)
    tree = tmp_path / "tree.yaml"
    caliper = Command(tmp_path)
    async with ChatServer(otherwise=fake.answer("A red car.")) as server:
        asked = ("--data", "captionqa.json", "--captioner", f"tgi:{server.url}")
        flags = ("evaluate", "captionqa", *asked, "--prompt", "taxonomy", "--coverage-floor", ".1")
        own = (*flags, "--taxonomy", "tree.yaml", "--quiet", "--out")
        tree.write_text("natural:\n  Mood: [Calm, Calm]\n")
        ended = await asyncio.to_thread(caliper, *own, "run", code=2)
        assert "tree.yaml:2: natural.Mood[1]: appears twice: 'Mood -> Calm'" in ended.err
        assert server.requests == []
        await asyncio.to_thread(caliper, *flags, "--quiet", "--out", "printed", code=0)
        for out, mood in (("run", "Calm"), ("other", "Tense"), ("again", "Calm")):
            tree.write_text(f"natural:\n  Mood: [{mood}]\n")
            await asyncio.to_thread(caliper, *own, out, code=0)
        said = [json.dumps(asked.body["messages"]) for asked in server.requests]
    # The document keeps the printed nodes, so its caption is the same one.
    assert len(said) == 4
    assert ["Mood -> Calm" in asked for asked in said] == [False, False, True, False]
    assert "Mood -> Tense" in said[3]
    reports = [
        json.loads((tmp_path / out / "report.json").read_text())
        for out in ("run", "again", "other", "printed")
    ]
    assert reports[0] == reports[1]
    told = [report["benchmarks"]["captionqa"]["settings"].get("taxonomy") for report in reports]
    assert len(set(told)) == 3
    assert told[3] is None
    ended = await asyncio.to_thread(caliper, "compare", "run", "other", code=2)
    assert "taxonomy" in ended.err
    # The endpoint is gone: the kept run stands in for itself, and for no other taxonomy.
    caliper = Command(tmp_path, {"CALIPER_RETRY_BUDGET": "0.2"})
    await asyncio.to_thread(caliper, *own, "run", code=0)
    tree.write_text("natural:\n  Mood: [Tense]\n")
    await asyncio.to_thread(caliper, *own, "run", code=4)


async def test_a_domain_of_our_own_is_captioned_with_its_taxonomy(tmp_path: Path) -> None:
    picture(tmp_path / "a.jpg")
    asked = {"question": "Is it red?", "choices": ["yes", "no"], "answer": "A"}
    row = {"id": "a", "images": ["a.jpg"], "domain": "household", "extension": True}
    tiny.value(tmp_path / "own.json", [row | {"questions": [asked]}])
    caliper, tree = Command(tmp_path), tmp_path / "tree.yaml"
    async with ChatServer(otherwise=fake.answer("A red car.")) as server:
        flags = ("--data", "own.json", "--captioner", f"tgi:{server.url}", "--prompt", "taxonomy")
        words = ("evaluate", "captionqa", *flags, "--quiet")
        ended = await asyncio.to_thread(caliper, *words, code=2)
        assert "taxonomy: the paper has no taxonomy of household: give" in ended.err
        tree.write_text("houshold:\n  Use: [Purpose]\n")
        ended = await asyncio.to_thread(caliper, *words, "--taxonomy", "tree.yaml", code=2)
        assert "taxonomy: the paper has no taxonomy of household: give" in ended.err
        tree.write_text("household:\n  Use: [Purpose]\nstreet:\n  Use: [Purpose]\n")
        ended = await asyncio.to_thread(caliper, *words, "--taxonomy", "tree.yaml", code=2)
        assert "taxonomy: no questions about 'street'; the data have household" in ended.err
        assert server.requests == []
        tree.write_text("household:\n  Use: [Purpose]\n")
        await asyncio.to_thread(caliper, *words, "--taxonomy", "tree.yaml", code=0)
        assert "Use -> Purpose" in json.dumps(server.requests[0].body["messages"])
    captions = ("--captions", "captions.json", "--prompt", "taxonomy")
    tiny.value(tmp_path / "captions.json", {"a": "A red car."})
    caliper("evaluate", "captionqa", *flags[:2], *captions, "--quiet", code=0)
