"""Three teams at once, each with quotas: what is refused, what is cut, and who sees what."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.clock import FakeClock
from tests.fakes.installation import listening
from tests.fakes.processes import until
from tests.fakes.quota_teams import (
    RIGHT,
    TOKENS_A_CALL,
    Teams,
    calling,
    write_quotas,
    write_tokens,
)

from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import BackendOverloaded
from caliper.core.quotas import QuotaUse
from caliper.core.run import RunState
from caliper.local.patient_gateway import PatientGateway
from caliper.serving.audit import LOGGER
from caliper.wiring.gateway_options import GatewayOptions
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import GatewaySettings, JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

SAMPLES, LIMIT = 20, 5


@asynccontextmanager
async def installed(folder: Path, quotas: str, judge: Step = RIGHT) -> AsyncIterator[Teams]:
    """Callers of an installation whose judge asks one call at a time."""
    options = GatewayOptions.of(GatewaySettings(quotas=write_quotas(folder, quotas)))
    ground = memory_ground(DirectoryStore(folder / "store"))
    async with ChatServer(otherwise=judge) as chat:
        judging = JudgeSettings(model=f"tgi:{chat.url}", in_flight=1, anchors=False)
        parts = await all_services(ground, judging, QaReaderSettings(), None, options)
        async with (
            listening(parts, write_tokens(folder)) as address,
            calling(folder, address, SAMPLES) as teams,
        ):
            yield teams


@pytest.fixture(autouse=True)
def _audited(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.INFO, LOGGER):
        yield


def audited(caplog: pytest.LogCaptureFixture, outcome: str) -> list[tuple[str, str, str]]:
    lines = [json.loads(each.getMessage()) for each in caplog.records if each.name == LOGGER]
    return [
        (line["caller"], line["method"].rpartition("/")[2], line["object"])
        for line in lines
        if line["outcome"] == outcome
    ]


async def test_a_team_over_its_calls_is_cut_and_the_others_are_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quotas = f"teams:\n  red: {{calls_a_day: {LIMIT}}}\n  blue: {{tokens_a_day: 1000}}\n"
    async with installed(tmp_path, quotas) as there:
        callers = ("ana", "cleo", "dora")
        started = await asyncio.gather(*map(there.start, callers))
        runs = dict(zip(callers, started, strict=True))
        ended = {caller: await there.end(caller, run) for caller, run in runs.items()}
        assert ended["cleo"].state is ended["dora"].state is RunState.COMPLETE
        assert ended["ana"].state is RunState.FINISHED
        rows = await there.verdicts("ana", runs["ana"])
        asked = [row for row in rows if not row.reason]
        # The calls in flight, of one and a half jobs, are not taken back.
        assert LIMIT <= len(asked) < LIMIT + 2
        cut = {(row.reason, row.explanation) for row in rows if row.reason}
        assert {reason for reason, _ in cut} == {"budget"}
        assert all("the quota of team red on calls a day" in text for _, text in cut)

        with pytest.raises(
            BackendOverloaded, match=r"team red: 5 of 5 calls a day; available again at "
        ) as refused:
            await there.start("ana", "another")
        assert "T00:00:00+00:00" in str(refused.value)
        # It is written after the answer.
        refusal = ("ana", "StartEvaluation", "another")
        await until(lambda: refusal in audited(caplog, "RESOURCE_EXHAUSTED"))
        assert await there.used("ana") == {("red", "calls_a_day"): len(asked)}
        # Only what has a limit is counted.
        assert await there.used("dora") == {}
        tokens = SAMPLES * TOKENS_A_CALL
        both = {("red", "calls_a_day"): len(asked), ("blue", "tokens_a_day"): tokens}
        assert await there.used("root") == both

        # The file is read again when it changes; the run goes on from where it was cut.
        write_quotas(tmp_path, "teams: {red: {calls_a_day: 1000}}")
        run = await there.start("ana")
        assert run == runs["ana"]
        assert (await there.end("ana", run)).state is RunState.COMPLETE
        assert await there.used("ana") == {("red", "calls_a_day"): SAMPLES}


async def test_a_team_starts_no_more_runs_than_its_quota_at_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gate = asyncio.Event()

    async def patient(*asked: Any) -> Any:
        await gate.wait()
        return await RIGHT(*asked)

    async with installed(tmp_path, "default: {runs_at_once: 1}", patient) as there:
        first = await there.start("ana")
        with pytest.raises(
            BackendOverloaded, match="1 of 1 runs at once; available again when one"
        ):
            await there.start("ana", "another")
        # It is written after the answer.
        refusal = ("ana", "StartEvaluation", "another")
        await until(lambda: refusal in audited(caplog, "RESOURCE_EXHAUSTED"))
        # The same run is no other one, and another team has a quota of its own.
        assert await there.start("ana") == first
        other = await there.start("cleo")
        assert await there.used("ana") == {("red", "runs_at_once"): 1}
        gate.set()
        for caller, run in (("ana", first), ("cleo", other)):
            assert (await there.end(caller, run)).state is RunState.COMPLETE
        assert await there.used("ana") == {("red", "runs_at_once"): 0}
        assert await there.start("ana", "another") != first


async def test_a_push_beyond_the_bytes_of_a_team_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with installed(tmp_path, "teams: {red: {bytes_stored: 200}}") as there:
        gateway = there.gateways["ana"]
        small, large = {"nat_000": "A dog."}, {"nat_000": "".join(map(chr, range(33, 600)))}
        await gateway.upload("captionqa", small)
        (use,) = await gateway.quotas()
        # Once more takes no more room.
        await gateway.upload("captionqa", small)
        assert await gateway.quotas() == [use]
        assert 0 < use.used < use.limit == 200
        message = (
            rf"team red: {use.used} of 200 bytes stored; available again when .*; this needs \d+"
        )
        with pytest.raises(BackendOverloaded, match=message):
            await gateway.upload("captionqa", large)
        await until(lambda: bool(audited(caplog, "RESOURCE_EXHAUSTED")))
        assert [each[:2] for each in audited(caplog, "RESOURCE_EXHAUSTED")] == [
            ("ana", "UploadCaptions")
        ]
        await there.gateways["cleo"].upload("captionqa", large)
        with pytest.raises(BackendOverloaded, match="bytes stored"):
            await there.start("ana")
        assert await gateway.quotas() == [QuotaUse("red", "bytes_stored", use.used, 200, use.frees)]


async def test_a_suite_waits_until_the_quota_frees(tmp_path: Path) -> None:
    class Tomorrow(FakeClock):
        async def sleep(self, seconds: float) -> None:
            write_quotas(tmp_path, "default: {calls_a_day: 1000}")
            await super().sleep(seconds)

    clock, warned = Tomorrow(), list[str]()
    async with installed(tmp_path, "default: {calls_a_day: 0}") as there:
        waiting = PatientGateway(there.gateways["ana"], clock, warned.append)
        run = await waiting.call(lambda: there.start("ana"))
        assert (await there.end("ana", run)).state is RunState.COMPLETE
    # Until midnight, and not every few seconds.
    assert len(clock.slept) == 1
    assert 5 <= clock.slept[0] <= 86_400
    assert "0 of 0 calls a day" in warned[0]
