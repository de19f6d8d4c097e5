from pathlib import Path

import pytest

from caliper.core.errors import InvalidInput, UnknownName
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.models import Access
from caliper.wiring.settings import ModelSettings, Settings, access, read_settings

SECRET = "hf_very_secret"


@pytest.fixture(autouse=True)
def _a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "TOKEN",
        "TOKEN_FILE",
        "TOKEN_HOSTS",
        "TOKENS_FILE",
        "CA",
        "TIMEOUT",
        "RETRY_BUDGET",
    ):
        monkeypatch.delenv(f"CALIPER_{name}", raising=False)


def secrets(found: Access) -> list[str]:
    return [secret.get_secret_value() for secret in found.tokens.secrets]


def test_nothing_set() -> None:
    found = access(7)
    assert (found.tokens.secrets, found.timeout, found.in_flight) == ((), 120.0, 7)
    assert found.retry_budget == 600


def test_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPER_TOKEN", SECRET)
    monkeypatch.setenv("CALIPER_TIMEOUT", "2.5")
    monkeypatch.setenv("CALIPER_RETRY_BUDGET", "0")
    monkeypatch.setenv("CALIPER_CA", "ca.pem")
    found = access(7)
    assert found.ca == Path("ca.pem")
    assert found.retry_budget == 0
    assert (secrets(found), found.timeout) == ([SECRET], 2.5)


@pytest.mark.parametrize("variable", ["CALIPER_TOKN", "CALIPER_", "caliper_tokn"])
def test_an_unknown_variable(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "x")
    known = "known: CALIPER_TOKEN, CALIPER_TOKEN_FILE, CALIPER_TOKEN_HOSTS, CALIPER_TOKENS_FILE"
    with pytest.raises(UnknownName, match=f"{variable}.*{known}"):
        access(7)


@pytest.mark.parametrize("kind", [ModelSettings, ClientSettings])
def test_the_known_variables_are_those_of_all_commands(
    monkeypatch: pytest.MonkeyPatch, kind: type[Settings]
) -> None:
    monkeypatch.setenv("CALIPER_TIMEOT", "3")
    with pytest.raises(UnknownName, match="CALIPER_TIMEOT") as caught:
        read_settings(kind)
    known = str(caught.value).partition("known: ")[2].split(", ")
    assert {"CALIPER_TIMEOUT", "CALIPER_CA", "CALIPER_STORE", "CALIPER_JUDGE_..."} <= set(known)


def test_variables_of_others_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS", "x")
    monkeypatch.setenv("MY_CALIPER_TOKEN", "x")
    assert secrets(access(7)) == []


@pytest.mark.parametrize("timeout", ["soon", "0", "-1", "3601", "nan", "inf"])
def test_a_timeout_that_is_none(monkeypatch: pytest.MonkeyPatch, timeout: str) -> None:
    monkeypatch.setenv("CALIPER_TIMEOUT", timeout)
    with pytest.raises(InvalidInput, match="environment: CALIPER_TIMEOUT: "):
        access(7)


def test_what_is_told_stands_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPER_TIMEOUT", "soon")
    monkeypatch.setenv("CALIPER_RETRY_BUDGET", "7")
    found = read_settings(ModelSettings, timeout=3)
    assert (found.timeout, found.retry_budget) == (3, 7)
    with pytest.raises(InvalidInput, match="environment: CALIPER_TIMEOUT: "):
        read_settings(ModelSettings, retry_budget=3)


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPER_TIMEOUT", "")
    assert access(7).timeout == 120.0


def test_a_token_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    monkeypatch.setenv("CALIPER_TOKEN_FILE", str(file))
    tokens = access(7).tokens
    assert tokens.token is not None
    assert tokens.token.source == "CALIPER_TOKEN_FILE"
    assert secrets(access(7)) == [SECRET]


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe"])
def test_a_file_without_a_token(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("CALIPER_TOKEN_FILE", str(file))
    with pytest.raises(InvalidInput, match="environment: CALIPER_TOKEN_FILE: "):
        access(7)


def test_a_token_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPER_TOKEN", SECRET)
    found = access(7)
    shown = (repr(found), str(found), repr(ModelSettings()), str(ModelSettings().model_dump()))
    assert not any(SECRET in text for text in shown)
    monkeypatch.setenv("CALIPER_TIMEOUT", "soon")
    with pytest.raises(InvalidInput) as caught:
        access(7)
    assert SECRET not in str(caught.value)
