import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import command
from tests.fakes.command import Command, Ended
from tests.fakes.installation import listening
from tests.fakes.sources import EXAMPLES

from caliper.adapters.stores.directory import DirectoryStore
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

DATA = EXAMPLES / "captionqa" / "questions.json"
MEDIA = ("--media", EXAMPLES / "media")
PUSH = ("data", "push", "captionqa", DATA, *MEDIA)

Run = Callable[..., Awaitable[Ended]]


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[Run]:
    """Runs a command with --server, which is an installation whose store is the folder `there`."""
    ground = memory_ground(DirectoryStore(tmp_path / "there"))
    parts = await all_services(ground, JudgeSettings(), QaReaderSettings(), None)
    async with listening(parts) as address:

        async def with_server(*arguments: object, code: int = 0) -> Ended:
            return await command.run(tmp_path, *arguments, "--server", address, code=code)

        yield with_server


def written(store: Path) -> dict[str, int]:
    """When each object was written, by key."""
    files = (file for name in ("datasets", "media") for file in (store / name).rglob("*"))
    return {
        file.relative_to(store).as_posix(): file.stat().st_mtime_ns
        for file in files
        if file.is_file()
    }


async def test_media_are_kept_by_content_and_sent_once(run: Run, tmp_path: Path) -> None:
    told = (await run(*PUSH, "--json")).told
    before = written(tmp_path / "there")
    media = [key for key in before if key.startswith("media/")]
    assert told["media"] >= len(media) > 0
    for key in media:
        data = (tmp_path / "there" / key).read_bytes()
        assert key == f"media/{hashlib.sha256(data).hexdigest()}"
    assert f"datasets/{told['dataset']}/manifest.json" in before
    assert (await run(*PUSH)).out.strip() == told["dataset"]
    assert written(tmp_path / "there") == before


async def test_a_push_that_was_cut_short_goes_on(run: Run, tmp_path: Path) -> None:
    name = (await run(*PUSH, "--json")).told["dataset"]
    before = written(tmp_path / "there")
    lost = {f"datasets/{name}/manifest.json", f"datasets/{name}/media.json"}
    lost.add(next(key for key in before if key.startswith("media/")))
    for key in lost:
        (tmp_path / "there" / key).unlink()
    await run(*PUSH)
    after = written(tmp_path / "there")
    assert after.keys() == before.keys()
    assert {key for key in after if after[key] != before[key]} == lost


async def test_a_name_is_data_of_an_evaluation(run: Run, tmp_path: Path) -> None:
    push = ("data", "push", "ours@v1", DATA, "--benchmark", "captionqa")
    digest = (await run(*push)).out.strip()
    assert (await run(*push)).out.strip() == digest
    other = tmp_path / "other.json"
    other.write_bytes(DATA.read_bytes() + b"\n")
    refused = await run("data", "push", "ours@v1", other, "--benchmark", "captionqa", code=2)
    assert "ours@v1 stands for other content" in refused.err
    told = (await run("data", "list", "--json")).told
    assert told == [{"name": "ours@v1", "dataset": digest, "benchmark": "captionqa"}]
    captions = EXAMPLES / "captions" / "careful" / "captionqa.json"
    evaluate = ("evaluate", "captionqa", "--captions", captions, "--json")
    first = (await run(*evaluate, "--data", "ours@v1")).told
    # It is the same run.
    again = (await run(*evaluate, "--data", DATA)).told
    assert again.pop("already_ended")
    assert again == first
    config = tmp_path / "elsewhere" / "run.yaml"
    config.parent.mkdir()
    part = {"data": "ours@v1", "captions": str(captions)}
    config.write_text(json.dumps({"benchmarks": {"captionqa": part}}), "utf-8")
    there = (await run("evaluate", "--config", config, "--json")).told
    assert there.pop("already_ended")
    assert there == first


def test_what_cannot_be_pushed_is_bad_input(caliper: Command) -> None:
    server = ("--server", "127.0.0.1:1")
    assert "known" in caliper("data", "push", "other@v1", ".", *server, code=2).err
    assert "NAME@VERSION" in caliper("data", "push", "captionqa@", DATA, *server, code=2).err
    caliper("data", "push", "captionqa", "nothing", *server, code=2)


async def test_media_that_are_not_here_are_counted(run: Run, tmp_path: Path) -> None:
    push = ("data", "push", "captionqa", DATA)
    absent = await run(*push, "--media", tmp_path / "nowhere", code=2)
    assert "nowhere: media: no such folder" in absent.err
    whole = await run(*PUSH, "--json")
    assert (whole.told["lacking"], whole.err) == (0, "")
    (tmp_path / "empty").mkdir()
    ended = await run(*push, "--media", tmp_path / "empty", "--json")
    count = whole.told["media"]
    assert (ended.told["media"], ended.told["lacking"]) == (0, count)
    told = f"Warning: {count} of {count} media are missing and were not pushed: "
    assert told in ended.err


async def test_questions_from_the_media_are_pushed_with_media_of_their_own(
    run: Run, tmp_path: Path
) -> None:
    data, qa = tmp_path / "data", tmp_path / "qa"
    for source, folder in (("capability", data), ("capability_qa", qa)):
        folder.mkdir()
        for file in (EXAMPLES / source).iterdir():
            rows = file.read_text("utf-8").splitlines(keepends=True)
            # The last picture of a task is asked about in question form only.
            kept = rows[:-1] if folder is data else rows
            (folder / file.name).write_text("".join(kept), "utf-8")
    push = ("data", "push", "capability", data, *MEDIA)
    plain = (await run(*push, "--json")).told
    told = (await run(*push, "--qa", qa, "--json")).told
    assert told["dataset"] == plain["dataset"]
    assert told["media"] > plain["media"]
    assert (told["files"], "qa_data" in plain) == (2 * plain["files"], False)
    before = written(tmp_path / "there")
    assert f"datasets/{told['qa_data']}/manifest.json" in before
    media: dict[str, Any] = json.loads(
        (tmp_path / "there" / "datasets" / told["dataset"] / "media.json").read_text()
    )
    assert len(media["media"]) == told["media"]
    lines = (await run(*push, "--qa", qa)).out.split()
    assert lines == [told["dataset"], told["qa_data"]]
    assert written(tmp_path / "there") == before


def test_a_benchmark_with_questions_of_its_own_takes_no_others(caliper: Command) -> None:
    ended = caliper(*PUSH, "--qa", DATA, "--server", "127.0.0.1:1", code=2)
    assert "captionqa: it asks its own questions about the media" in ended.err
