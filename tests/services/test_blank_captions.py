"""Blank captions, supplied and written: the files of services are those of one process."""

import json
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import MODEL, ChatServer, Step
from tests.fakes.installation import alone, installation, over

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.run import RunState
from caliper.local.config import RunConfig, check_config, read_config
from caliper.local.submission import send
from caliper.pipeline.reports.run_reader import FILES
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import CaptionerSettings

BLANK: tuple[Step, ...] = (
    fake.answer(""),
    fake.answer(None, refusal="I cannot help with that"),
    fake.answer("", "length"),
    fake.answer("The image shows", "tool_calls"),
)
WITHHELD = fake.answer("The image shows", "content_filter")
SAMPLES = 8


def by_picture() -> Step:
    """A checkpoint that always ends in the same way for the same picture."""
    ends = iter((*BLANK, WITHHELD))
    chosen: dict[str, Step] = {}

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        shown = json.dumps(asked["messages"])
        if shown not in chosen:
            chosen[shown] = next(ends, fake.answer("A park with trees."))
        return await chosen[shown](server, request, asked)

    return step


async def report_of(gateway: RemoteGateway, config: RunConfig, folder: Path) -> Any:
    """report.json of a run in services, whose every file is that of the run in `folder`."""
    begun = await send(config, gateway)
    ended = await over(gateway, begun.spec.run_id)
    assert (ended.state, ended.error) == (RunState.COMPLETE, "")
    for file in FILES:
        found = await gateway.report(begun.spec.run_id, file)
        assert found == (folder / "alone" / file).read_bytes(), file
    return json.loads((folder / "alone" / "report.json").read_text())["benchmarks"]


async def test_supplied(gateway: RemoteGateway, tmp_path: Path) -> None:
    config = read_config(tiny.write_all(tmp_path / "data"))
    captions = tmp_path / "data" / "captions"
    blank = [{"file_id": "a1", "caption": " \n"}, {"file_id": "a2", "caption": None}]
    tiny.lines(captions / "capability" / "camera_angle.jsonl", blank)
    tiny.value(captions / "captionqa.json", {"nat_1": "", "doc_1": "A letter."})
    tiny.value(captions / "comprecap.json", {"park.jpg": ""})
    rules = {"judge": None, "reader": None}
    parts = {name: part.model_copy(update=rules) for name, part in config.benchmarks.items()}
    config = config.model_copy(update={"benchmarks": parts, "coverage_floor": 0.1})
    await alone(config, WarningWatcher(), tmp_path)
    found = await report_of(gateway, config, tmp_path)
    assert [part["blank_captions"] for part in found.values()] == [1, 1, 1]
    assert found["capability"]["coverage"]["unscored"]["no_caption"] == 1
    assert "no_caption" not in found["captionqa"]["coverage"]["unscored"]
    assert found["comprecap"]["s_object"] == 0


async def test_written(tmp_path: Path) -> None:
    tiny.write_pictures(tmp_path, SAMPLES)

    def config(captioner: str) -> RunConfig:
        part = {"data": str(tmp_path / "data"), "captioner": captioner}
        floor = {"coverage_floor": 0.5}
        return check_config({"name": "n", "benchmarks": {"capability": part}, **floor})

    ground = memory_ground(DirectoryStore(tmp_path / "store"))
    async with ChatServer(otherwise=by_picture()) as chat:
        captioning = CaptionerSettings(model=f"tgi:{chat.url}")
        await alone(config(f"tgi:{chat.url}"), WarningWatcher(), tmp_path)
        async with installation(ground, captioner=captioning) as gateway:
            found = await report_of(gateway, config(MODEL), tmp_path)
        assert len(chat.requests) == 2 * SAMPLES
    scenes = found["capability"]
    assert (scenes["blank_captions"], scenes["truncated_captions"]) == (len(BLANK), 1)
    assert scenes["coverage"]["unscored"] == {"refused": 1}
    assert scenes["tasks"]["scene"]["recall"] == 100 * 3 / 7
