"""The keys of replies: who has them, and what they are used for."""

from pathlib import Path

import pytest
from tests.fakes.packs import key

from caliper.core.errors import InvalidInput
from caliper.pipeline.store.authentic_store import AuthenticStore
from caliper.wiring.grounds import ground_of
from caliper.wiring.kafka_settings import StreamSettings
from caliper.wiring.key_settings import ReplySettings
from caliper.wiring.service_settings import (
    AggregatorSettings,
    CaptionerSettings,
    GatewaySettings,
    JudgeSettings,
    QaReaderSettings,
    StoreSettings,
)
from caliper.wiring.settings import read_settings
from caliper.wiring.suites_settings import SuitesSettings

NEW, OLD = "n" * 64, "o" * 32
HOLDERS = (
    GatewaySettings,
    CaptionerSettings,
    JudgeSettings,
    QaReaderSettings,
    AggregatorSettings,
    SuitesSettings,
)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for service in ("GATEWAY", "CAPTIONER", "JUDGE", "QA_READER", "AGGREGATOR", "SUITES"):
        monkeypatch.setenv(f"CALIPER_{service}_REPLIES_KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("CALIPER_CAPTIONER_MODEL", "tgi:http://model:8080")
    held = tmp_path / "key"
    held.write_text(f"{NEW}\n{OLD}\n", "utf-8")
    return held


@pytest.mark.parametrize("kind", HOLDERS)
async def test_services_that_ask_models_or_show_replies_sign_them(
    kind: type[StreamSettings], file: Path
) -> None:
    settings = read_settings(kind, kafka="127.0.0.1:1", store=str(file.with_name("store")))
    assert isinstance(settings, ReplySettings)
    assert isinstance(settings, StoreSettings)
    assert settings.reply_keys() == (NEW.encode(), OLD.encode())
    ground = ground_of(settings, settings)
    assert isinstance(ground.store, AuthenticStore)
    await ground.store.put(key(1), b'{"replies":{}}')
    assert ground.whole is not None
    assert (await ground.whole.get(key(1)) or b"").startswith(b'{"mac":"')
    for close in ground.close:
        await close()


def test_without_a_key_nothing_is_signed(tmp_path: Path) -> None:
    settings = JudgeSettings(kafka="127.0.0.1:1", store=str(tmp_path))
    ground = ground_of(settings, settings)
    assert ground.store is ground.whole


@pytest.mark.parametrize("text", [f"{NEW}\n{OLD[1:]}", "short"])
def test_a_key_that_could_be_guessed(text: str, file: Path) -> None:
    file.write_text(text, "utf-8")
    said = "environment: CALIPER_JUDGE_REPLIES_KEY_FILE: a key has fewer than 32 characters"
    with pytest.raises(InvalidInput, match=said):
        read_settings(JudgeSettings).reply_keys()


def test_blanks_are_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPER_JUDGE_REPLIES_KEY", " ")
    with pytest.raises(InvalidInput, match="CALIPER_JUDGE_REPLIES_KEY: a key has fewer"):
        read_settings(JudgeSettings).reply_keys()
