from pathlib import Path

import pytest

from caliper.adapters.streams.kafka_security import KafkaSasl, KafkaSecurity, KafkaTls
from caliper.core.errors import InvalidInput
from caliper.serving.addresses import Address
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.grounds import kafka_access
from caliper.wiring.kafka_settings import KafkaSettings
from caliper.wiring.service_settings import (
    AggregatorSettings,
    CaptionerSettings,
    GatewaySettings,
    JudgeSettings,
    QaReaderSettings,
)
from caliper.wiring.settings import read_settings, variable
from caliper.wiring.store_access import store_access

SECRET = "not for everybody"
NEAR, FAR = Address("127.0.0.1", 9092), Address("kafka", 9092)
USER = {"USER": "us", "PASSWORD": SECRET}
KINDS = (
    AggregatorSettings,
    CaptionerSettings,
    ClientSettings,
    GatewaySettings,
    JudgeSettings,
    QaReaderSettings,
)


def read(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], kind: type[KafkaSettings]
) -> KafkaSettings:
    if kind is CaptionerSettings:
        monkeypatch.setenv("CALIPER_CAPTIONER_MODEL", "tgi:http://tgi")
    for name, value in given.items():
        monkeypatch.setenv(variable(kind, f"kafka_{name}"), value)
    return read_settings(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_who_speaks_kafka_can_be_told_how(
    monkeypatch: pytest.MonkeyPatch, kind: type[KafkaSettings]
) -> None:
    given = {"SECURITY": "SASL_SSL", "MECHANISM": "SCRAM-SHA-256", "PREFIX": "ours.", **USER}
    found = read(monkeypatch, given, kind)
    sasl = KafkaSasl("SCRAM-SHA-256", "us", SECRET)
    assert found.security([FAR]) == KafkaSecurity(KafkaTls(), sasl)
    access = kafka_access("one:1,two:2", found, "--kafka")
    assert (access.servers, access.security) == ("one:1,two:2", KafkaSecurity(KafkaTls(), sasl))
    assert access.full_name("runs") == "ours.runs"
    assert SECRET not in repr(found) + repr(access) + str(found.model_dump())


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"security_protocol": "PLAINTEXT"}),
        ({"SECURITY": "SSL"}, {"security_protocol": "SSL"}),
        (
            {"SECURITY": "SASL_PLAINTEXT", **USER},
            {
                "security_protocol": "SASL_PLAINTEXT",
                "sasl_mechanism": "SCRAM-SHA-512",
                "sasl_plain_username": "us",
                "sasl_plain_password": SECRET,
            },
        ),
        (
            {"SECURITY": "SASL_SSL", "MECHANISM": "PLAIN", **USER},
            {
                "security_protocol": "SASL_SSL",
                "sasl_mechanism": "PLAIN",
                "sasl_plain_username": "us",
                "sasl_plain_password": SECRET,
            },
        ),
    ],
)
def test_by_the_names_of_kafka_python(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], expected: dict[str, str]
) -> None:
    options = read(monkeypatch, given, JudgeSettings).security([FAR]).options()
    encrypted = options.pop("ssl_context", None)
    assert options == expected
    assert (encrypted is not None) == expected["security_protocol"].endswith("SSL")


def test_the_password_comes_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(f"{SECRET}\n", "utf-8")
    given = {"SECURITY": "SASL_PLAINTEXT", "USER": "us", "PASSWORD_FILE": str(file)}
    sasl = read(monkeypatch, given, JudgeSettings).security([NEAR]).sasl
    assert sasl == KafkaSasl("SCRAM-SHA-512", "us", SECRET)
    assert SECRET not in repr(sasl)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"SECURITY": "TLS"}, "SECURITY: expected 'PLAINTEXT', 'SSL'"),
        ({"MECHANISM": "GSSAPI"}, "MECHANISM: expected 'PLAIN', 'SCRAM"),
        ({"SECURITY": "SASL_SSL"}, "USER: needed with SASL_SSL"),
        ({"SECURITY": "SASL_SSL", "USER": "us"}, "PASSWORD: needed with SASL_SSL"),
        (USER, "USER: has no effect while CALIPER_JUDGE_KAFKA_SECURITY is PLAINTEXT"),
        ({"SECURITY": "SSL", "PASSWORD": "x"}, "PASSWORD: has no effect while .* is SSL"),
        ({"CA": "ca.pem"}, "CA: has no effect while .* is PLAINTEXT"),
        ({"SECURITY": "SASL_PLAINTEXT", "CA": "ca.pem", **USER}, "CA: has no effect"),
        ({"SECURITY": "SSL", "CERTIFICATE": "x.pem"}, "KEY: certificate and key are used together"),
        ({"SECURITY": "SSL", "KEY": "x.pem"}, "CERTIFICATE: certificate and key are used together"),
    ],
)
def test_what_does_not_go_together(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=f"CALIPER_JUDGE_KAFKA_{message}"):
        read(monkeypatch, given, JudgeSettings).security([FAR])


def test_a_ca_that_is_not_there_is_found_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(monkeypatch, {"SECURITY": "SSL", "CA": "none.pem"}, JudgeSettings)
    with pytest.raises(InvalidInput, match=r"none.pem: cannot be used: No such file"):
        found.security([FAR])


def test_a_password_does_not_leave_this_machine_in_plaintext(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = {"SECURITY": "SASL_PLAINTEXT", "MECHANISM": "PLAIN", **USER}
    found = read(monkeypatch, plain, JudgeSettings)
    assert found.security([NEAR]).sasl is not None
    refusal = "CALIPER_JUDGE_KAFKA_MECHANISM: PLAIN would send the password to kafka:9092 in plain"
    with pytest.raises(InvalidInput, match=refusal):
        found.security([NEAR, FAR])
    monkeypatch.setenv("CALIPER_JUDGE_KAFKA_MECHANISM", "SCRAM-SHA-512")
    assert read_settings(JudgeSettings).security([FAR]).sasl is not None


@pytest.mark.parametrize("servers", ["kafka", "one:1,", "one:1;two:2", "SSL://one:1"])
def test_what_is_no_list_of_servers(servers: str) -> None:
    with pytest.raises(InvalidInput, match="--kafka: expected host:port"):
        kafka_access(servers, ClientSettings(), "--kafka")


def storing(monkeypatch: pytest.MonkeyPatch, **given: str) -> JudgeSettings:
    for name, value in ({"ACCESS_KEY": "a", "SECRET_KEY": "b"} | given).items():
        monkeypatch.setenv(f"CALIPER_JUDGE_STORE_{name}", value)
    return read_settings(JudgeSettings)


def test_whom_the_store_has_to_be_vouched_for_by(monkeypatch: pytest.MonkeyPatch) -> None:
    found = storing(monkeypatch, CA="ca.pem")
    secure = found.model_copy(update={"store": "https://minio:9000"})
    assert store_access(secure).ca == Path("ca.pem")
    with pytest.raises(InvalidInput, match=r"ca.pem: cannot be used"):
        store_access(secure).connections()
    plain = found.model_copy(update={"store": "http://minio:9000"})
    with pytest.raises(
        InvalidInput, match="CALIPER_JUDGE_STORE_CA: has no effect for http://minio"
    ):
        store_access(plain)
