"""`caliper view`: the pages of run directories, and a run as one page to share."""

import gzip
import json
import re
import shutil
import signal
import urllib.request
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application
from tests.fakes import tiny
from tests.fakes.command import Command, end, wait_for
from tests.fakes.headless_browser import picture

from caliper.local.directory import RunDirectory
from caliper.local.run_shelf import RunShelf
from caliper.serving.pages import Pages
from caliper.wiring.clock import SystemClock


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with two runs over tiny data."""
    caliper = Command(tmp_path_factory.mktemp("view"))
    config = tiny.write_all(caliper.folder)
    for medium in ("c1.jpg", "nat_1.jpg"):
        for folder in (".", "capability"):
            (caliper.folder / folder / medium).write_bytes(picture("", medium))
    for name in ("first", "second"):
        ended = ("--name", name, "--out", f"runs/{name}", "--quiet")
        caliper("evaluate", "--config", config, *ended)
    return caliper


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/gzip" id="data">([\w+/=]*)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(gzip.decompress(b64decode(found[1])))
    return data


@asynccontextmanager
async def pages(*directories: Path) -> AsyncIterator[TestClient[Any, Any]]:
    application = Application()
    shelf = RunShelf([RunDirectory(each) for each in directories])
    application.router.add_routes(Pages(shelf.sources(SystemClock())).routes())
    async with TestClient(TestServer(application)) as client:
        yield client


async def text_of(client: TestClient[Any, Any], path: str) -> str:
    async with client.get(path) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.text()


def test_a_page_to_share_has_all_verdicts_and_pictures_only_on_request(ran: Command) -> None:
    rows = (ran.folder / "runs" / "first" / "verdicts.jsonl").read_text().splitlines()
    ran("view", "first", "--out", "shared.html", code=0)
    data = data_of((ran.folder / "shared.html").read_text())
    assert [row["index"] for row in data["samples"]] == list(range(len(rows)))
    assert data["pictures"] == {}
    ran("view", "first", "--out", "whole.html", "--with-media", code=0)
    assert data_of((ran.folder / "whole.html").read_text())["pictures"]


def test_what_cannot_be_viewed_is_said(ran: Command, tmp_path: Path) -> None:
    assert "--with-media: needs --out" in ran("view", "first", "--with-media", code=2).err
    assert "--out: is a page of one run" in ran("view", "--out", "x.html", code=2).err
    assert "no run with a report" in Command(tmp_path)("view", code=2).err
    assert "no run directory" in ran("view", "third", code=2).err


async def test_the_pages_of_run_directories(ran: Command) -> None:
    first, second = (ran.folder / "runs" / name for name in ("first", "second"))
    ids = [RunDirectory(each).read_spec().run_id for each in (first, second)]
    async with pages(first, second) as client:
        listed = await text_of(client, "/")
        assert all(f'href="/runs/{run}"' in listed for run in ids)
        assert 'href="/leaderboard"' in listed
        assert "<h1>first</h1>" in await text_of(client, f"/runs/{ids[0]}")
        report = await text_of(client, f"/runs/{ids[0]}/files/report.json")
        assert report == (first / "report.json").read_text()
        found = json.loads(await text_of(client, f"/runs/{ids[0]}/verdicts"))
        rows = [json.loads(each) for each in (first / "verdicts.jsonl").read_text().splitlines()]
        assert [row["index"] for row in found["samples"]] == [row["index"] for row in rows]
        captions = [
            json.loads(each) for each in (first / "captions.jsonl").read_text().splitlines()
        ]
        written = {f"{row['benchmark']}/{row['sample']}": row["caption"] for row in captions}
        assert {key: text for key, text in found["captions"].items() if text} == written
        async with client.get(next(iter(found["pictures"].values()))) as answer:
            assert answer.content_type == "image/jpeg"
        compared = await text_of(client, f"/compare?base={ids[0]}&run={ids[1]}&anyway=on")
        assert "<h1>second against first</h1>" in compared
        assert "1. first" in await text_of(client, "/leaderboard?anyway=on")


def test_it_serves_until_it_is_interrupted(ran: Command) -> None:
    process = ran.start("view", "first", "--no-open")
    _, place = wait_for(process, r"pages on (http://127\.0\.0\.1:\d+/runs/\w{16})")
    with urllib.request.urlopen(place) as answer:  # noqa: S310 - a server of our own
        assert "<h1>first</h1>" in answer.read().decode()
    ended = end(process, signal.SIGINT)
    assert (ended.code, ended.err) == (0, "")


async def test_a_run_alone_has_no_leaderboard(ran: Command) -> None:
    first = ran.folder / "runs" / "first"
    shutil.copytree(first, ran.folder / "copied")
    async with pages(first, ran.folder / "copied") as client:
        assert "leaderboard" not in await text_of(client, "/")
        async with client.get(f"/runs/{'0' * 16}") as answer:
            assert answer.status != 200
