from pathlib import Path

import pytest

from caliper.core.errors import InvalidInput, UnknownName
from caliper.serving.addresses import Address
from caliper.serving.grpc_server import ServerOptions
from caliper.serving.server_certificates import Tls
from caliper.wiring.service_settings import (
    CaptionerSettings,
    GatewaySettings,
    JudgeSettings,
    QaReaderSettings,
)
from caliper.wiring.settings import SERVICES, access, read_settings
from caliper.wiring.suites_settings import SuitesSettings

SECRET = "not for everybody"


def test_nothing_set() -> None:
    found = read_settings(JudgeSettings)
    assert found.server() == ServerOptions(Address("127.0.0.1", 50051))
    assert (found.model, found.tagger, found.embedder) == ("lexical", "rules", "ngram")
    assert found.access().tokens.secrets == ()


def test_what_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "LISTEN": "[::]:50053",
        "HEALTH_LISTEN": "0.0.0.0:50054",
        "TLS_CERTIFICATE": "/tls/tls.crt",
        "TLS_KEY": "/tls/tls.key",
        "TLS_CLIENTS": "/ca/ca.crt",
        "TOKENS": "/tokens",
        "DEADLINE": "5",
        "MODEL": "tgi:http://tgi:8080",
        "IN_FLIGHT": "7",
        "KAFKA": "kafka:9092",
        "STORE": "http://minio:9000",
    }.items():
        monkeypatch.setenv(f"CALIPER_QA_READER_{name}", value)
    found = read_settings(QaReaderSettings)
    server = found.server()
    assert server.listen == Address("::", 50053)
    assert server.health == Address("0.0.0.0", 50054)  # noqa: S104 - health alone
    assert server.tls == Tls(Path("/tls/tls.crt"), Path("/tls/tls.key"), Path("/ca/ca.crt"))
    assert (server.tokens, server.deadline) == (Path("/tokens"), 5.0)
    assert (found.model, found.access().in_flight) == ("tgi:http://tgi:8080", 7)
    assert (found.kafka, found.store) == ("kafka:9092", "http://minio:9000")


def test_certificates_of_callers_are_asked_for_over_tls_only() -> None:
    with pytest.raises(InvalidInput, match="CALIPER_JUDGE_TLS_CLIENTS: has no effect without TLS"):
        JudgeSettings(tls_clients=Path("ca.crt")).server()


@pytest.mark.parametrize("name", ["CALIPER_JUDGE_MODL", "caliper_judge_token", "CALIPER_JUDGE_"])
def test_an_unknown_variable(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "x")
    with pytest.raises(UnknownName, match=rf"{name}.*; known: .*CALIPER_JUDGE_LISTEN"):
        read_settings(JudgeSettings)


@pytest.mark.parametrize("service", SERVICES)
def test_services_and_the_command_line_leave_each_other_alone(
    monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    monkeypatch.setenv("CALIPER_TOKEN", SECRET)
    monkeypatch.setenv(f"CALIPER_{service}_SOMETHING", "x")
    assert access(7).tokens.secrets
    if service != "QA_READER":
        assert read_settings(QaReaderSettings).model_token is None


@pytest.mark.parametrize(
    "field", ["MODEL_TOKEN", "STORE_ACCESS_KEY", "STORE_SECRET_KEY", "STORE_SESSION_TOKEN"]
)
def test_secrets_from_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, field: str) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n", encoding="utf-8")
    monkeypatch.setenv(f"CALIPER_JUDGE_{field}_FILE", str(file))
    found = read_settings(JudgeSettings)
    assert getattr(found, field.lower()).get_secret_value() == SECRET
    assert SECRET not in repr(found) + str(found.model_dump())


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff"])
def test_a_file_without_a_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("CALIPER_JUDGE_STORE_SECRET_KEY_FILE", str(file))
    with pytest.raises(InvalidInput, match="environment: CALIPER_JUDGE_STORE_SECRET_KEY_FILE: "):
        read_settings(JudgeSettings)


def test_a_captioner_needs_a_model() -> None:
    with pytest.raises(InvalidInput, match="environment: CALIPER_CAPTIONER_MODEL: missing"):
        read_settings(CaptionerSettings)


@pytest.mark.parametrize(
    ("name", "value"),
    [("DEADLINE", "0"), ("DEADLINE", "nan"), ("GRACE", "-1"), ("IN_FLIGHT", "0"), ("TIMEOUT", "x")],
)
def test_a_number_that_is_wrong(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"CALIPER_JUDGE_{name}", value)
    with pytest.raises(InvalidInput, match=f"environment: CALIPER_JUDGE_{name}: "):
        read_settings(JudgeSettings)


@pytest.mark.parametrize("name", ["LISTEN", "HEALTH_LISTEN"])
def test_an_address_that_is_wrong(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"CALIPER_JUDGE_{name}", "everywhere")
    with pytest.raises(InvalidInput, match=f"CALIPER_JUDGE_{name}: expected host:port"):
        read_settings(JudgeSettings).server()


@pytest.mark.parametrize(
    ("given", "missing"), [("TLS_CERTIFICATE", "TLS_KEY"), ("TLS_KEY", "TLS_CERTIFICATE")]
)
def test_half_of_a_tls_pair(monkeypatch: pytest.MonkeyPatch, given: str, missing: str) -> None:
    monkeypatch.setenv(f"CALIPER_JUDGE_{given}", "x.pem")
    with pytest.raises(InvalidInput, match=f"CALIPER_JUDGE_{missing}: certificate and key"):
        read_settings(JudgeSettings).server()


def test_pages_are_off_until_an_address_of_this_machine_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read_settings(GatewaySettings).page() is None
    monkeypatch.setenv("CALIPER_GATEWAY_PAGE_ADDRESS", "127.0.0.1:50080")
    assert read_settings(GatewaySettings).page() == Address("127.0.0.1", 50080)
    for far in ("0.0.0.0:50080", "machine.example:50080", "[::]:1"):
        monkeypatch.setenv("CALIPER_GATEWAY_PAGE_ADDRESS", far)
        with pytest.raises(InvalidInput, match="CALIPER_GATEWAY_PAGE_ADDRESS: pages ask for no"):
            read_settings(GatewaySettings).page()


def test_webhooks_are_off_until_there_is_an_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert read_settings(SuitesSettings).webhooks() is None
    monkeypatch.setenv("CALIPER_SUITES_WEBHOOKS_ADDRESS", "127.0.0.1:8090")
    with pytest.raises(InvalidInput, match="CALIPER_SUITES_WEBHOOKS_SECRETS: required to rec"):
        read_settings(SuitesSettings).webhooks()
    monkeypatch.setenv("CALIPER_SUITES_WEBHOOKS_SECRETS", str(tmp_path))
    (tmp_path / "wandb").write_text("ours\n", "utf-8")
    settings = read_settings(SuitesSettings)
    assert settings.webhooks() == (Address("127.0.0.1", 8090), None)
    assert [settings.webhook_secret(each) for each in ("mlflow", "wandb")] == [None, "ours"]
    monkeypatch.setenv("CALIPER_SUITES_WEBHOOKS_ADDRESS", "0.0.0.0:8090")
    with pytest.raises(InvalidInput, match="CALIPER_SUITES_TLS_CERTIFICATE: required to receive"):
        read_settings(SuitesSettings).webhooks()


def test_a_ca_for_models_is_of_use_where_one_is_reached_by_tls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CALIPER_JUDGE_MODEL_CA", "/tls/ca.pem")
    for model, embedder in (
        ("tgi:https://judge:8443", "ngram"),
        ("triton:https://judge:8001/llm", "ngram"),
        ("lexical", "triton:https://sentences:8001/sentences"),
    ):
        access = JudgeSettings(model=model, embedder=embedder).access()
        assert access.ca == Path("/tls/ca.pem")
    for model in ("lexical", "tgi:http://judge:8080", "triton:judge:8001/llm"):
        with pytest.raises(InvalidInput, match="CALIPER_JUDGE_MODEL_CA: has no effect"):
            JudgeSettings(model=model).access()
