"""Runs and stores written by one commit, in tests/kept, and the program that wrote them.

    python -m tests.fakes.kept_runs

rewrites them. That is needed after a change of prompts, of the version, or of a lexical model's
revision, because the same configuration is then another run. `first` and `second` are judged by
rules, `judged` by a model; `interrupted` is `judged`, ended by Ctrl-C halfway. The stores hold the
same run of an installation, once finished and once stopped halfway.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import shutil
import signal
import tarfile
from contextlib import AbstractAsyncContextManager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aiohttp import web
from PIL import Image
from tests.fakes import chat_server, tiny
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.chat_trouble import never
from tests.fakes.command import Command, end
from tests.fakes.installation import installation as in_one_process
from tests.fakes.installation import over
from tests.fakes.sources import ROOT

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.local.config import RunConfig, read_config
from caliper.local.submission import send
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings

KEPT = ROOT / "tests" / "kept"
STORES = ("store", "store_interrupted")
# Compared byte by byte; the other files are prose for people.
FIGURES = ("report.json", "verdicts.parquet")
_MIDDLE = 16
_CAPTION_TOKENS = 8192
_SECOND = "A blue car beside a green door, seen from a low angle."


def write_data(root: Path) -> None:
    tiny.write_all(root)
    for unused in ("judged", "read", "on_image", "scenes_judged", "compreqa", "compreqa_answers"):
        shutil.rmtree(root / unused)
    for unused in ("capability_qa", "capability_answers"):
        shutil.rmtree(root / unused)
    (root / "all.yaml").unlink()
    shutil.copytree(root / "captions", root / "second")
    for file in (root / "second").rglob("*.json*"):
        text = file.read_text()
        file.write_text(
            re.sub(r'"A (red apple|red car|dog catches a frisbee)\."', f'"{_SECOND}"', text)
        )
    for place, row in enumerate(tiny.QUESTIONS):
        Image.new("RGB", (8, 6), (99 * place, 99, 0)).save(root / row["images"][0])


def write_config(root: Path, name: str, chat: str = "", captioner: str = "") -> Path:
    """Write the configuration of a run: with rules on the captions of this name, or judged by
    `chat`.
    """
    captions = name if name == "second" else "captions"
    parts: dict[str, dict[str, Any]] = {
        "capability": {"data": "capability", "captions": f"{captions}/capability"},
        "captionqa": {"data": "captionqa.json", "captions": f"{captions}/captionqa.json"},
        "comprecap": {"data": "anno.json", "captions": f"{captions}/comprecap.json"},
    }
    if captioner:
        del parts["captionqa"]["captions"]
        parts["captionqa"] |= {"captioner": captioner, "media": ".", "qa": True}
    if chat:
        roles = {"capability": "judge", "captionqa": "reader", "comprecap": "judge"}
        for part, role in roles.items():
            parts[part][role] = chat
    config = {"name": name, "coverage_floor": 0.5, "benchmarks": parts}
    return tiny.value(root / f"{name}.yaml", config)


async def by_words(
    server: ChatServer, request: web.Request, asked: dict[str, Any]
) -> web.StreamResponse:
    """A model whose answer depends only on the words of the request."""
    contents = [message["content"] for message in asked["messages"]]
    words = "".join(re.findall(r'"text": "[^"]*"', json.dumps(contents)) or map(str, contents))
    drawn = sha256(words.encode()).digest()[0]
    if form := asked.get("response_format"):
        fields = {"pred": ["low angle"], "score": str(drawn % 3 - 1)}
        text = json.dumps(
            {name: fields.get(name, "as told") for name in form["value"]["properties"]}
        )
    elif asked["max_tokens"] == 4:
        text = "AB"[drawn % 2]
    else:
        text = "A red car by a wall." if "image_url" in str(contents) else str(drawn % 6)
    return await chat_server.answer(text)(server, request, asked)


def evaluate(folder: Path, config: Path, out: str) -> tuple[object, ...]:
    """The arguments of the command that evaluates a configuration into `out`."""
    places = ("--out", folder / out, "--store", folder / f"{out}.store")
    return ("evaluate", "--config", config, *places, "--no-anchors", "--concurrency", 2, "--quiet")


def installation(store: Path, chat: ChatServer) -> AbstractAsyncContextManager[RemoteGateway]:
    """An installation on a directory, whose models are all `chat` and judge no anchors."""
    model = f"tgi:{chat.url}"
    judging = JudgeSettings(model=model, anchors=False)
    reading = QaReaderSettings(model=model, anchors=False)
    ground = memory_ground(DirectoryStore(store))
    return in_one_process(ground, judging, reading, CaptionerSettings(model=model))


def served(data: Path) -> RunConfig:
    """The judged run, for an installation."""
    config = read_config(write_config(data, "judged", captioner=MODEL))
    return config.model_copy(update={"store": None, "out": None})


def replies(store: Path) -> int:
    """The number of replies and captions of models in a store."""
    books = [json.loads(file.read_bytes())["replies"] for file in store.glob("jobs/*/*.json")]
    answers = [reply for book in books for reply in book.values() if "text" in reply]
    return len(answers) + len(list(store.glob("captions/*/*.json")))


def unpacked(name: str, folder: Path) -> Path:
    """A kept store, unpacked into a folder of the caller's."""
    with tarfile.open(KEPT / f"{name}.tar.gz") as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202 - our own
    return folder


def _pack(store: Path, file: Path) -> None:
    with tarfile.open(file, "w:gz") as archive:
        for path in sorted(store.rglob("*")):
            if path.is_file():
                info = tarfile.TarInfo(str(path.relative_to(store)))
                data = path.read_bytes()
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


async def _local(work: Path) -> int:
    command = Command(work)
    for name in ("first", "second"):
        config = write_config(work / "data", name)
        await asyncio.to_thread(command, *evaluate(work, config, name), code=0)
    async with ChatServer(otherwise=by_words) as chat:
        config = write_config(work / "data", "judged", f"tgi:{chat.url}", f"tgi:{chat.url}")
        await asyncio.to_thread(command, *evaluate(work, config, "judged"), code=0)
        calls = len(chat.requests)
    async with ChatServer([by_words] * _MIDDLE, otherwise=never()) as chat:
        config = write_config(work / "data", "judged", f"tgi:{chat.url}", f"tgi:{chat.url}")
        process = command.start(*evaluate(work, config, "interrupted"))
        await chat.until_received(_MIDDLE + 1)
        await asyncio.to_thread(end, process, signal.SIGINT)
    return calls


async def _without_phrases(
    server: ChatServer, request: web.Request, asked: dict[str, Any]
) -> web.StreamResponse:
    """The same model, but it never answers CompreCap's judge."""
    phrase = "response_format" not in asked and 4 < asked["max_tokens"] < _CAPTION_TOKENS
    return await (never() if phrase else by_words)(server, request, asked)


async def _served(work: Path) -> None:
    config = served(work / "data")
    whole, part = (work / store for store in STORES)
    async with ChatServer(otherwise=by_words) as chat, installation(whole, chat) as gateway:
        await over(gateway, (await send(config, gateway)).spec.run_id)
    async with ChatServer(otherwise=_without_phrases) as chat, installation(part, chat) as gateway:
        run = (await send(config, gateway)).spec.run_id
        async for found in gateway.watch(run, 1.0):
            told = {one.name: one.coverage for one in found.benchmarks}
            ended = [told.get(name) for name in ("capability", "captionqa")]
            if all(one and one.scored + sum(one.unscored.values()) == one.planned for one in ended):
                break


def _copy_to_kept(work: Path) -> None:
    """Copy the runs and stores to tests/kept, without machine-specific parts."""
    for run in ("first", "second", "judged", "interrupted"):
        for name in ("report.html", "report.md", "verdicts.jsonl", "state/lock"):
            (work / run / name).unlink(missing_ok=True)
        if (execution := work / run / "execution.json").exists():
            data = {**json.loads(execution.read_text()), "host": "machine"}
            execution.write_text(json.dumps(data, indent=2, sort_keys=True) + "\n")
        file = work / run / "run.yaml"
        text = file.read_text().replace(str(work), "/kept")
        file.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text))
        shutil.copytree(work / run, KEPT / run)
    shutil.copytree(work / "interrupted.store", KEPT / "interrupted.store")
    shutil.copytree(work / "data", KEPT / "data", ignore=shutil.ignore_patterns("*.yaml"))
    for store in STORES:
        _pack(work / store, KEPT / f"{store}.tar.gz")


async def main() -> None:
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir()
    with TemporaryDirectory(prefix="kept-") as folder:
        work = Path(folder)
        write_data(work / "data")
        calls = await _local(work)
        await _served(work)
        _copy_to_kept(work)
        command = Command(work)
        runs = (work / "first", work / "second")
        for name in ("compare", "leaderboard"):
            output = command(name, *runs, "--json").out
            tiny.value(KEPT / f"{name}.json", json.loads(output))
        tiny.value(KEPT / "calls.json", calls)


if __name__ == "__main__":
    asyncio.run(main())
