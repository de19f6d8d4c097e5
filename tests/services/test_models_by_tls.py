"""A judge, a reader and a captioner whose models are reached by TLS on a CA of one's own."""

import asyncio
from pathlib import Path

import pytest
from tests.fakes.certificates import Pair
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.clock import PATIENCE
from tests.fakes.installation import installation, over
from tests.fakes.opinions import opinionated
from tests.fakes.sources import EXAMPLES

from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import BackendRejected, InvalidInput
from caliper.core.run import RunState
from caliper.local.config import check_config
from caliper.local.submission import send
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings
from caliper.wiring.services import captioner_parts, open_answerer_parts
from caliper.wiring.settings import read_settings

STAGES = ("JUDGE", "QA_READER", "CAPTIONER")


async def test_a_run_whose_models_are_reached_by_tls(
    ours: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("a-secret\n")
    chat = ChatServer(otherwise=opinionated, tls=ours, token="a-secret", keep_requests=True)
    async with chat:
        for stage in STAGES:
            monkeypatch.setenv(f"CALIPER_{stage}_MODEL", f"tgi:{chat.url}")
            monkeypatch.setenv(f"CALIPER_{stage}_MODEL_CA", str(tmp_path / "tls" / "ca.pem"))
            monkeypatch.setenv(f"CALIPER_{stage}_MODEL_TOKEN_FILE", str(tmp_path / "token"))
        ground = memory_ground(DirectoryStore(tmp_path / "store"))
        settings = map(read_settings, (JudgeSettings, QaReaderSettings, CaptionerSettings))
        part = {"data": str(EXAMPLES / "captionqa" / "questions.json"), "captioner": MODEL}
        part["media"] = str(EXAMPLES / "media")
        described = {"name": "ours", "benchmarks": {"captionqa": part}, "coverage_floor": 0.5}
        async with installation(ground, *settings) as gateway:
            run = (await send(check_config(described | {"limit": 2}), gateway)).spec.run_id
            async with asyncio.timeout(PATIENCE):
                assert (await over(gateway, run)).state is RunState.COMPLETE
    assert len(chat.requests) > 1


@pytest.mark.parametrize("stage", STAGES)
async def test_a_service_does_not_start_on_a_certificate_that_it_does_not_trust(
    ours: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    ground = memory_ground(DirectoryStore(tmp_path / "store"))

    async def started() -> None:
        if stage == "CAPTIONER":
            await captioner_parts(read_settings(CaptionerSettings), ground)
        elif stage == "JUDGE":
            await open_answerer_parts("judge", read_settings(JudgeSettings), ground)
        else:
            await open_answerer_parts("reader", read_settings(QaReaderSettings), ground)

    async with ChatServer(tls=ours) as chat:
        monkeypatch.setenv(f"CALIPER_{stage}_MODEL", f"tgi:{chat.url}")
        with pytest.raises(BackendRejected, match="certificate is not trusted"):
            await started()
        assert chat.model_requests == 0
        monkeypatch.setenv(f"CALIPER_{stage}_MODEL", chat.url.replace("https", "tgi:http"))
        monkeypatch.setenv(f"CALIPER_{stage}_MODEL_CA", str(tmp_path / "tls" / "ca.pem"))
        with pytest.raises(InvalidInput, match=f"CALIPER_{stage}_MODEL_CA: has no effect"):
            await started()
