"""How settings say where an S3 endpoint is, and what its keys are."""

import pytest

from caliper.adapters.stores.workload_identity import WorkloadIdentity
from caliper.core.errors import InvalidInput
from caliper.wiring.service_settings import JudgeSettings
from caliper.wiring.settings import read_settings
from caliper.wiring.store_access import name_store_errors, store_access

NAMED = "CALIPER_JUDGE_STORE_"
STS = "https://minio:9000"


def settings(monkeypatch: pytest.MonkeyPatch, **values: str) -> JudgeSettings:
    monkeypatch.setenv("CALIPER_JUDGE_STORE", "https://s3.example.com")
    for name, value in values.items():
        monkeypatch.setenv(f"{NAMED}{name}", value)
    return read_settings(JudgeSettings)


def test_region_style_and_session_token(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {"ACCESS_KEY": "key", "SECRET_KEY": "secret", "SESSION_TOKEN": "session"}
    access = store_access(settings(monkeypatch, **keys, REGION="eu-west-1", STYLE="host"))
    assert (access.region, access.style) == ("eu-west-1", "host")
    assert (access.access_key, access.secret_key, access.session_token) == tuple(keys.values())
    assert access.identity is None


@pytest.mark.parametrize(("name", "value"), [("REGION", "eu west"), ("STYLE", "virtual")])
def test_a_region_or_style_that_there_is_not(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with pytest.raises(InvalidInput, match=f"environment: {NAMED}{name}: "):
        settings(monkeypatch, **{name: value})


def test_a_region_that_is_not_that_of_the_endpoint_names_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = settings(monkeypatch, ACCESS_KEY="a", SECRET_KEY="b", REGION="us-west-2")
    found = found.model_copy(update={"store": "https://s3.eu-central-1.amazonaws.com"})
    access = store_access(found)
    told = f"{NAMED}REGION: 'us-west-2' is not that of the endpoint"
    with (
        access.connections() as pool,
        pytest.raises(InvalidInput, match=told),
        name_store_errors(found, "--store"),
    ):
        access.client(pool)


@pytest.mark.parametrize(
    ("variables", "identity"),
    [
        ({"AWS_WEB_IDENTITY_TOKEN_FILE": "/token"}, WorkloadIdentity("", "eu-west-1")),
        (
            {"AWS_WEB_IDENTITY_TOKEN_FILE": "/token", "AWS_ENDPOINT_URL_STS": STS},
            WorkloadIdentity(STS, "eu-west-1"),
        ),
        (
            {"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials"},
            WorkloadIdentity("", "eu-west-1"),
        ),
    ],
    ids=["role", "own token service", "agent"],
)
def test_without_keys_a_workload_is_lent_some(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], identity: WorkloadIdentity
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    access = store_access(settings(monkeypatch, REGION="eu-west-1"))
    assert (access.identity, access.access_key, access.secret_key) == (identity, "", "")
    # Keys that are named are used.
    named = store_access(settings(monkeypatch, ACCESS_KEY="a", SECRET_KEY="b"))
    assert (named.identity, named.access_key) == (None, "a")


@pytest.mark.parametrize(
    ("given", "missing"),
    [((), "ACCESS_KEY"), (("ACCESS_KEY",), "SECRET_KEY"), (("SESSION_TOKEN",), "ACCESS_KEY")],
    ids=["none", "one", "token"],
)
def test_keys_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], missing: str
) -> None:
    if given:
        monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/token")
    found = settings(monkeypatch, **dict.fromkeys(given, "x"))
    with pytest.raises(InvalidInput, match=f"environment: {NAMED}{missing}: needed for an S3"):
        store_access(found)
