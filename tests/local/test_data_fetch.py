"""Data by name: found in the layouts of authors and of the Hub, and named in the report."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fakes import tiny
from tests.fakes.command import Command, end, wait_for
from tests.fakes.hub_data import fetching_ended, published_data
from tests.fakes.hub_server import COMMIT, TOKEN, HubRepository, HubServer

import caliper
from caliper.core.errors import InvalidInput
from caliper.local import data_layouts
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import check_config
from caliper.local.data_fetch import SilentFetch, fetch_data, fetch_now
from caliper.local.suite_config import read_suite


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    repositories = published_data(tmp_path)
    with HubServer({name: HubRepository(files) for name, files in repositories.items()}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        # Else one of the machine would be sent.
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setenv("CALIPER_DATA_CACHE", str(tmp_path / "cache"))
        monkeypatch.chdir(tmp_path)
        yield server


def captioner(images: list[Any]) -> list[str]:
    return [f"{each[0].size[0]} pixels" for each in images]


SEEN = {"nat_1": "10 pixels", "doc_1": "20 pixels"}


def test_a_checkpoint_sees_the_pictures_of_a_dataset_on_the_hub(
    hub: HubServer, tmp_path: Path
) -> None:
    data = {"captionqa": "hf:Borise/CaptionQA"}
    assert caliper.plan(captioner, data).benchmarks[0].captions_to_write == 2
    assert not (tmp_path / "cache" / "pictures").exists()
    run = caliper.evaluate(captioner, data, coverage_floor=0.0, progress=False)
    assert run.path is not None
    rows = tiny.read_lines(run.path / "captions.jsonl")
    assert {row["sample"]: row["caption"] for row in rows} == SEEN
    pinned = f"hf:Borise/CaptionQA@{COMMIT}"
    assert run.report["spec"]["data_names"] == {"captionqa": pinned}
    assert f"Data: {pinned}" in (run.path / "report.md").read_text("utf-8").replace("**", "")
    # What run.yaml says needs no network any more.
    hub.status = 500
    captions, config = (run.path / file for file in ("captions.jsonl", "run.yaml"))
    again = caliper.evaluate(captions, config, coverage_floor=0.0, progress=False)
    assert again.report["spec"]["data_names"] == {"captionqa": pinned}


@pytest.mark.parametrize("name", ["hf:owner/folders", "hf:owner/both"])
def test_of_copies_of_the_data_one_with_its_pictures_is_read(hub: HubServer, name: str) -> None:
    run = caliper.evaluate(captioner, {"captionqa": name}, coverage_floor=0.0, progress=False)
    assert run.path is not None
    rows = tiny.read_lines(run.path / "captions.jsonl")
    assert {row["sample"]: row["caption"] for row in rows} == SEEN


async def test_parts_of_the_data_are_one_without_a_list_of_all(
    hub: HubServer, tmp_path: Path
) -> None:
    data, _ = await located("captionqa", data="hf:owner/folders")
    parts = [tiny.read_lines(file) for file in sorted(data.iterdir())]
    assert [(row["id"], row["image_paths"]) for part in parts for row in part] == [
        ("doc_1", ["document/images/1.png"]),
        ("nat_1", ["natural/images/1.png"]),
    ]
    copy = tmp_path / "cache" / "hub" / "owner--folders" / COMMIT
    (copy / "annotations.jsonl").unlink()
    assert (await located("captionqa", data=str(copy)))[0] == data
    # A list of more than the parts have is not a copy of them.
    tiny.text(copy / "annotations.jsonl", json.dumps({**tiny.QUESTIONS[0], "id": "nat_2"}))
    assert data_layouts.data_place("captionqa", copy, copied=True) == copy / "annotations.jsonl"


def test_names_are_for_the_layouts_of_all_benchmarks(hub: HubServer, tmp_path: Path) -> None:
    shell = Command(
        tmp_path, {"HF_ENDPOINT": hub.url, "CALIPER_DATA_CACHE": str(tmp_path / "cache")}
    )
    names = {
        "capability": "hf:lntzm/CAPability",
        "captionqa": "hf:Borise/CaptionQA@main",
        "comprecap": f"hf:FanLu31/CompreCap@{COMMIT}",
    }
    config = (tmp_path / "all.yaml").read_text("utf-8")
    for place, name in zip(
        ("capability", "captionqa.json", "anno.json"), names.values(), strict=True
    ):
        assert f"data: {place}\n" in config
        config = config.replace(f"data: {place}\n", f"data: '{name}'\n")
    (tmp_path / "named.yaml").write_text(config, "utf-8")
    ended = shell("evaluate", "--config", "named.yaml", "--out", "named", code=0)
    assert ended.err.splitlines()[:2] == [
        f"hf:lntzm/CAPability@{COMMIT}",
        f"hf:Borise/CaptionQA@{COMMIT}",
    ]
    # Pictures are for those who look at them.
    assert not hub.asked("GET", "park.jpg")
    shell("evaluate", "--config", "all.yaml", "--out", "plain", code=0)
    named, plain = (
        json.loads((tmp_path / out / "report.json").read_bytes()) for out in ("named", "plain")
    )
    assert "data_names" not in plain["spec"]
    assert set(named["spec"]["data_names"]) == set(names)
    assert named["benchmarks"]["comprecap"] == plain["benchmarks"]["comprecap"]
    assert named["benchmarks"]["capability"] == plain["benchmarks"]["capability"]


async def fetched(name: str, **part: Any) -> BenchmarkConfig:
    config = check_config({"benchmarks": {name: {"captions": "captions", **part}}})
    return (await fetch_data(config)).benchmarks[name]


async def located(name: str, **part: Any) -> tuple[Path, Path]:
    found = await fetched(name, **part)
    return found.data, found.media_root


async def test_media_are_found_where_they_lie(hub: HubServer, tmp_path: Path) -> None:
    looking = {"captions": None, "captioner": "tgi:http://localhost:1"}
    data, media = await located("comprecap", data="hf:FanLu31/CompreCap", **looking)
    copy = tmp_path / "cache" / "hub" / "FanLu31--CompreCap" / COMMIT
    assert (data, media) == (copy, copy / "images")
    replies = {"qa": "hf:FanLu31/CompreCap", "qa_replies": "replies.jsonl"}
    assert (await fetched("comprecap", data="anno.json", **replies)).qa == copy / "QA_json"
    # Named on their own, they are fetched for reports as well.
    _, media = await located("comprecap", data="anno.json", media="hf:FanLu31/CompreCap")
    assert media == copy / "images"
    # A folder of one's own is looked through likewise, and what fits stays as it is.
    assert await located("comprecap", data=str(copy.parent), **looking) == (data, media)
    assert await located("captionqa", data="captionqa.json") == (Path("captionqa.json"), Path())


def test_a_suite_keeps_the_commit(hub: HubServer, tmp_path: Path) -> None:
    part = {"data": "hf:FanLu31/CompreCap", "captioner": "tgi:http://localhost:1#m@{revision}"}
    values = {"name": "nightly", "benchmarks": {"comprecap": part}}
    suite = read_suite(tiny.text(tmp_path / "suite.yaml", json.dumps(values)))
    stored = suite.values["run"]["benchmarks"]["comprecap"]
    assert (stored["data"], stored["media"]) == (f"hf:FanLu31/CompreCap@{COMMIT}", None)
    # It is another version only if the data are others, and its runs ask nobody.
    copy = tmp_path / "cache" / "hub" / "FanLu31--CompreCap" / COMMIT
    part["data"] = str(copy)
    same = read_suite(tiny.text(tmp_path / "suite.yaml", json.dumps(values)))
    assert same.version == suite.version
    hub.status = 500
    found = fetch_now(check_config(suite.values["run"])).benchmarks["comprecap"]
    assert (found.data, found.media_root) == (copy, copy / "images")


async def test_a_transfer_ends_with_who_waits_for_it(hub: HubServer, tmp_path: Path) -> None:
    given_up = threading.Event()
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    class Impatient(SilentFetch):
        def on_transfer(self, name: str, done: int, total: int) -> None:
            loop.call_soon_threadsafe(task.cancel)
            given_up.wait()

    config = check_config(
        {"benchmarks": {"captionqa": {"data": "hf:owner/large", "captions": "captions"}}}
    )
    with pytest.raises(asyncio.CancelledError):
        await fetch_data(config, Impatient())
    task.uncancel()
    given_up.set()
    await asyncio.to_thread(fetching_ended)
    assert not list((tmp_path / "cache").rglob("data.json"))


async def test_tables_of_tasks_become_the_official_folder(hub: HubServer, tmp_path: Path) -> None:
    rows = [
        {**row, "annotation": json.dumps(row["annotation"]), "day": date(2026, 1, 2)}
        for task in ("camera_angle", "object_color")
        for row in tiny.read_lines(tmp_path / "capability" / f"{task}.jsonl")
    ]
    (tmp_path / "tables").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "tables" / "test.parquet")
    data, _ = await located("capability", data="tables")
    assert data.parent == tmp_path / "cache" / "tables"
    read = [row for file in sorted(data.iterdir()) for row in tiny.read_lines(file)]
    assert read == [{**row, "day": "2026-01-02"} for row in rows]
    assert await located("capability", data="tables") == (data, data)


def test_no_table_of_tasks_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPER_DATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(data_layouts, "_MOST_FILES", 1)
    row = {"task": "scene", "file_id": "1"}
    for name in ("a", "b"):
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / f"{name}.parquet")
    with pytest.raises(InvalidInput, match="more than 1 tables, and some are of tasks"):
        data_layouts.data_place("capability", tmp_path, copied=False)
    monkeypatch.setattr(data_layouts, "_MOST_FILES", 2)
    cut = tmp_path / "b.parquet"
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(InvalidInput, match=r"b\.parquet: not a readable parquet file"):
        data_layouts.data_place("capability", tmp_path, copied=False)


def test_of_folders_with_the_same_media_the_user_chooses(tmp_path: Path) -> None:
    tiny.write_all(tmp_path)
    names = [row["image"] for row in json.loads((tmp_path / "anno.json").read_bytes())]
    for place in ("images", "masks"):
        for name in names:
            tiny.text(tmp_path / "set" / place / name, "picture")
    with pytest.raises(InvalidInput, match="media of comprecap: images, masks; name one"):
        data_layouts.media_place("comprecap", tmp_path / "anno.json", tmp_path / "set")
    for name in names:
        tiny.text(tmp_path / "set" / name, "picture")
    found = data_layouts.media_place("comprecap", tmp_path / "anno.json", tmp_path / "set")
    assert found == tmp_path / "set"


def test_a_medium_whose_name_no_disk_has_is_missing(tmp_path: Path) -> None:
    row = {**tiny.QUESTIONS[0], "images": ["x" * 1000]}
    data = tiny.value(tmp_path / "data.json", [row])
    assert data_layouts.media_place("captionqa", data, tmp_path) is None


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("hf:owner/other", f"hf:owner/other@{COMMIT}: no captionqa data in a known layout"),
        ("hf:owner/two", "several folders hold captionqa data: a, b; name one of them"),
        ("hf:owner/none", "hf:owner/none@main: no such dataset"),
        ("gs://bucket/prefix", "unknown data source 'gs'; known: hf, s3"),
        ("s3://bucket/prefix", "environment: CALIPER_STORE: s3:// needs the URL"),
    ],
)
async def test_a_name_that_does_not_do(hub: HubServer, name: str, told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await located("captionqa", data=name)
    assert told in str(caught.value)


def test_commands_take_names(hub: HubServer, tmp_path: Path) -> None:
    shell = Command(
        tmp_path, {"HF_ENDPOINT": hub.url, "CALIPER_DATA_CACHE": str(tmp_path / "cache")}
    )
    name = f"hf:Borise/CaptionQA@{COMMIT}"
    checked = shell("validate", name, "--json")
    assert checked.told["summary"] == "captionqa data: 2 items, 5 questions"
    process = shell.start("serve", "--listen", "127.0.0.1:0", "--store", "there")
    _, server = wait_for(process, r"Serving on (\S+)")
    pushed = shell("data", "push", "captionqa", name, "--server", server, "--json")
    assert end(process, signal.SIGTERM).code == 0
    assert (pushed.told["media"], pushed.told["lacking"]) == (2, 0)
    offline = Command(tmp_path, {**shell.environment, "HF_HUB_OFFLINE": "1"})
    flags = ("--data", name, "--captions", "captions/captionqa.json", "--json")
    planned = offline("plan", "captionqa", *flags)
    assert planned.told["benchmarks"][0]["questions"] == 5
