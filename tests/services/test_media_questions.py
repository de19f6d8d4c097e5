"""Questions from the media, put to the captioner of an installation in the run that captions."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import AheadClock
from tests.fakes.counting_store import CountingStore
from tests.fakes.installation import alone, installation, over
from tests.fakes.multimodal_checkpoint import asked_live, asks_letter, seeing

from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.errors import InvalidInput
from caliper.core.run import RunState
from caliper.local.config import RunConfig
from caliper.local.submission import parcel_of, send
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest
from caliper.pipeline.reports.run_reader import FILES
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.service_settings import CaptionerSettings

NAME = "fake/judge-8b"


def only(config: RunConfig, name: str, **changes: Any) -> RunConfig:
    part = config.benchmarks[name].model_copy(update=changes)
    return config.model_copy(update={"benchmarks": {name: part}})


@dataclass
class VisionInstallation:
    """An installation whose captioner is a checkpoint that sees."""

    gateway: RemoteGateway
    ground: Ground
    checkpoint: ChatServer
    store: CountingStore
    clock: AheadClock

    @property
    def model(self) -> str:
        return f"tgi:{self.checkpoint.url}"

    @property
    def questions(self) -> int:
        return sum(asks_letter(asked.body) for asked in self.checkpoint.requests)


@asynccontextmanager
async def installed(folder: Path, **settings: Any) -> AsyncIterator[VisionInstallation]:
    store, clock = CountingStore(DirectoryStore(folder / "store")), AheadClock()
    ground = replace(memory_ground(store), clock=clock)
    async with ChatServer(otherwise=seeing) as chat:
        captioning = CaptionerSettings(model=f"tgi:{chat.url}", **settings)
        async with installation(ground, captioner=captioning) as gateway:
            yield VisionInstallation(gateway, ground, chat, store, clock)


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[VisionInstallation]:
    async with installed(tmp_path) as found:
        yield found


async def test_every_file_is_that_of_one_process(there: VisionInstallation, tmp_path: Path) -> None:
    begun = await send(asked_live(NAME), there.gateway)
    ended = await over(there.gateway, begun.spec.run_id)
    assert (ended.state, ended.error) == (RunState.COMPLETE, "")
    found = {file: await there.gateway.report(begun.spec.run_id, file) for file in FILES}
    asked = there.questions
    await alone(asked_live(there.model), WarningWatcher(), tmp_path)
    for file, data in found.items():
        assert data == (tmp_path / "alone" / file).read_bytes(), file
    assert there.questions == 2 * asked > 0
    assert found["report.html"].count(b"data:image/jpeg;base64,") > 5
    figures = json.loads(found["report.json"])["benchmarks"]
    assert 0 <= figures["capability"]["average"]["kt_bar"] <= 100
    assert "overall" in figures["captionqa"]["utility_gap"]
    assert set(figures["comprecap"]["compreqa"]) == {"p", "cap"}


async def test_replies_are_put_in_packs_and_asked_for_nowhere_else(
    there: VisionInstallation,
) -> None:
    config = only(asked_live(NAME, limit=4), "captionqa")
    captioner = there.store
    begun = await send(config, there.gateway)
    await over(there.gateway, begun.spec.run_id)
    rows, _ = await there.gateway.verdicts(begun.spec.run_id, VerdictQuery(size=1000))
    samples = {row.sample for row in rows}
    asked = [row for row in rows if row.item.startswith("qa/")]
    assert {row.sample for row in asked} == samples
    # Rules read the captions, and keep nothing: all replies are those of the captioner, one of a
    # sample for its caption and one book for its questions.
    assert 0 < captioner.count("PUT", "packs/") <= 2 * len(samples) < there.questions
    assert captioner.most("PUT", "packs/") == 1
    assert captioner.count("GET", "jobs/") == captioner.count("PUT", "jobs/") == 0


async def test_smaller_pictures_are_shown_and_asked_about_anew(
    there: VisionInstallation, tmp_path: Path
) -> None:
    whole = only(asked_live(NAME), "captionqa")
    small = only(asked_live(NAME), "captionqa", preparation={"longest": "64"})
    counts, runs = [], []
    for config in (whole, small):
        begun = await send(config, there.gateway)
        assert (await over(there.gateway, begun.spec.run_id)).state is RunState.COMPLETE
        runs.append(begun.spec.run_id)
        counts.append(there.questions)
    assert counts[1] == 2 * counts[0] > 0
    report = await there.gateway.report(runs[1])
    own = only(asked_live(there.model), "captionqa", preparation={"longest": "64"})
    assert report == await alone(own, WarningWatcher(), tmp_path)


async def test_the_same_questions_are_asked_once(there: VisionInstallation) -> None:
    config = asked_live(NAME)
    first = await send(config, there.gateway)
    await over(there.gateway, first.spec.run_id)
    before = len(there.checkpoint.requests)
    other = config.model_copy(update={"name": "by another name"})
    again = await send(other, there.gateway)
    assert (await over(there.gateway, again.spec.run_id)).state is RunState.COMPLETE
    assert first.spec != again.spec
    assert len(there.checkpoint.requests) == before


async def test_a_picture_that_was_not_pushed_costs_its_questions_only(
    there: VisionInstallation, tmp_path: Path
) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    part = only(asked_live(NAME), "captionqa", media=nothing)
    begun = await send(part, there.gateway)
    ended = await over(there.gateway, begun.spec.run_id)
    rows, _ = await there.gateway.verdicts(begun.spec.run_id, VerdictQuery(size=1000))
    assert ended.state is RunState.FINISHED
    reasons = {(row.item.startswith("qa/"), row.reason) for row in rows}
    assert reasons == {(True, "media_missing"), (False, "media_missing")}
    assert there.checkpoint.requests == []
    # Pushed by now, and asked in the same run; what was missing is not looked for all the time.
    there.clock.ahead += 60
    whole = await send(only(asked_live(NAME), "captionqa"), there.gateway)
    assert whole.spec == begun.spec
    assert (await over(there.gateway, begun.spec.run_id)).state is RunState.COMPLETE


async def test_trouble_of_the_checkpoint_is_no_wrong_answer(tmp_path: Path) -> None:
    async def failing(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        step = fake.status(500) if asks_letter(body) else seeing
        return await step(server, request, body)

    async with installed(tmp_path, retry_budget=0.2) as there:
        there.checkpoint.from_now_on(failing)
        config = only(asked_live(NAME, coverage_floor=0.9), "captionqa")
        begun = await send(config, there.gateway)
        ended = await over(there.gateway, begun.spec.run_id)
        rows, _ = await there.gateway.verdicts(begun.spec.run_id, VerdictQuery(size=1000))
        assert ended.state is RunState.FINISHED
        reasons = {row.reason for row in rows if row.item.startswith("qa/")}
        assert reasons == {"backend"}
        there.checkpoint.from_now_on(seeing)
        await send(config, there.gateway)
        assert (await over(there.gateway, begun.spec.run_id)).state is RunState.COMPLETE
        report = await there.gateway.report(begun.spec.run_id)
        own = only(asked_live(there.model, coverage_floor=0.9), "captionqa")
        assert report == await alone(own, WarningWatcher(), tmp_path)


async def test_another_model_is_not_asked(there: VisionInstallation) -> None:
    config = only(asked_live(NAME), "captionqa")
    await send(config, there.gateway)
    digest = parcel_of("captionqa", config.benchmarks["captionqa"]).digest
    captions = await there.gateway.upload("captionqa", {"nat_000": "A dog."})
    for given, message in (
        ({"captioner": NAME, "media": "another"}, "another"),
        ({"captions": captions, "media": NAME}, "must also be the captioner"),
        ({"captioner": NAME, "media": NAME, "qa_replies": digest}, "one of media and qa_replies"),
    ):
        part = BenchmarkRequest("captionqa", digest, **given)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match=message) as refused:
            await there.gateway.start(EvaluationRequest("ours", (part,)))
        assert refused.value.field == "benchmarks[0].media"
