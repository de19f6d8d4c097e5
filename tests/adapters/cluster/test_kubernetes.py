"""What becomes of an API server's troubles, and that nothing secret is told on the way."""

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.certificates import certify
from tests.fakes.kube_answers import Answers, answering
from tests.servers.process import free_ports

from caliper.adapters.cluster import kubernetes
from caliper.adapters.cluster.kubernetes import ClusterAccess, ClusterSecrets
from caliper.core.backoff import Backoff
from caliper.core.errors import StoreUnavailable

HELD = {"kind": "Secret", "data": {"token": base64.b64encode(b"a-secret").decode("ascii")}}
CREATED = (201, HELD)
Call = Callable[[ClusterSecrets], object]


def read(secrets: ClusterSecrets) -> object:
    return secrets.read("caliper-models")


def create(secrets: ClusterSecrets) -> object:
    return secrets.create("caliper-models", "Opaque", {"token": b"a-secret"})


def replace(secrets: ClusterSecrets) -> object:
    return secrets.replace("caliper-models", "Opaque", {"token": b"a-secret"})


def access(answers: Answers, patience: float = 60.0) -> ClusterSecrets:
    return ClusterSecrets(ClusterAccess(answers.url, "place", answers.account, patience))


def test_what_is_asked(tmp_path: Path) -> None:
    with answering(tmp_path, (200, HELD), CREATED, (200, HELD)) as answers:
        secrets = access(answers)
        assert read(secrets) == {"token": b"a-secret"}
        assert create(secrets) is True
        replace(secrets)
    got, made, renewed = answers.asked
    place = "/api/v1/namespaces/place/secrets"
    assert (got.method, got.path) == ("GET", f"{place}/caliper-models")
    assert made.method == renewed.method == "PATCH"
    path, _, manager = made.path.partition("?fieldManager=")
    assert path == f"{place}/caliper-models"
    assert renewed.path == f"{made.path}&force=true"
    assert manager not in access(answers).__dict__.values()
    assert {got.token, made.token, renewed.token} == {"Bearer account-token"}
    written = json.loads(made.body)
    assert json.loads(renewed.body) == written
    assert (written["type"], written["data"]) == ("Opaque", HELD["data"])
    assert written["metadata"]["labels"]["app.kubernetes.io/part-of"] == "caliper"
    assert "immutable" not in written


def test_what_is_not_there_and_what_is_there_already(tmp_path: Path) -> None:
    missing = {"kind": "Status", "message": 'secrets "caliper-models" not found'}
    with answering(tmp_path, (404, missing), (409, {"kind": "Status"})) as answers:
        secrets = access(answers)
        assert read(secrets) is None
        assert create(secrets) is False


@pytest.mark.parametrize("trouble", [(0, ""), (429, {}), (500, {}), (503, b"a proxy's page")])
@pytest.mark.parametrize("call", [read, create, replace])
def test_what_passes_is_waited_for(
    tmp_path: Path, call: Call, trouble: tuple[int, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes, "_BACKOFF", Backoff(0.01, 0.01))
    good = CREATED if call is create else (200, HELD)
    with answering(tmp_path, trouble, trouble, good) as answers:
        call(access(answers))
        assert len(answers.asked) == 3


def test_the_token_is_read_anew_for_every_try(tmp_path: Path) -> None:
    with answering(tmp_path, (200, HELD)) as answers:
        secrets = access(answers)
        read(secrets)
        (answers.account / "token").write_text("replaced", "ascii")
        read(secrets)
    assert [asked.token for asked in answers.asked] == ["Bearer account-token", "Bearer replaced"]


@pytest.mark.parametrize("call", [read, create, replace])
@pytest.mark.parametrize(
    ("status", "said", "expected"),
    [
        (401, {"message": "Unauthorized"}, "answers 401: Unauthorized"),
        (403, {"message": "secrets is forbidden"}, "answers 403: secrets is forbidden"),
        (403, b"<html>", "answers 403 and is not a Kubernetes API"),
        (307, {}, "answers 307"),
        # Such answers quote what they were sent.
        (400, {"message": "a-secret"}, "answers 400"),
        (422, {"message": "a-secret"}, "answers 422"),
    ],
)
def test_a_refusal_is_final_and_says_who_may_not_do_what(
    tmp_path: Path, call: Call, status: int, said: object, expected: str
) -> None:
    with answering(tmp_path, (status, said)) as answers:
        with pytest.raises(StoreUnavailable) as refused:
            call(access(answers))
        assert len(answers.asked) == 1
    verb = {read: "read", create: "create", replace: "update"}[call]
    assert str(refused.value) == f"cannot {verb} Secret caliper-models: the API server {expected}"


def test_a_namespace_that_is_not_there(tmp_path: Path) -> None:
    said = {"message": 'namespaces "place" not found'}
    with answering(tmp_path, (404, said)) as answers, pytest.raises(StoreUnavailable) as refused:
        create(access(answers))
    assert str(refused.value).endswith('answers 404: namespaces "place" not found')


@pytest.mark.parametrize(
    "said", [b"<html>", b'{"data": {"token": "a-secrets"}}', b"[]", b'{"data": 7}']
)
def test_what_is_no_api_server(tmp_path: Path, said: bytes) -> None:
    with answering(tmp_path, (200, said)) as answers, pytest.raises(StoreUnavailable) as refused:
        read(access(answers))
    assert str(refused.value) == f"{answers.url}: not a Kubernetes API"


def test_patience_ends(tmp_path: Path) -> None:
    with answering(tmp_path, (503, {})) as answers, pytest.raises(StoreUnavailable) as refused:
        read(access(answers, patience=0))
    assert str(refused.value) == f"{answers.url}: the API server answers 503"


def test_nobody_is_there(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with answering(tmp_path, (200, HELD)) as answers:
        answers.url = f"https://127.0.0.1:{port}"
        with pytest.raises(StoreUnavailable, match="refused"):
            create(access(answers, patience=0))


def test_somebody_else_is_there(tmp_path: Path) -> None:
    with answering(tmp_path, (200, HELD)) as answers:
        stranger = certify(tmp_path / "stranger").certificate
        (answers.account / "ca.crt").write_bytes(stranger.read_bytes())
        with pytest.raises(StoreUnavailable, match="certificate verify failed"):
            create(access(answers, patience=0))
        assert answers.asked == []


@pytest.mark.parametrize("text", [None, b"\xff"])
def test_an_account_without_a_token(tmp_path: Path, text: bytes | None) -> None:
    with answering(tmp_path, (200, HELD)) as answers:
        token = answers.account / "token"
        token.unlink()
        if text is not None:
            token.write_bytes(text)
        with pytest.raises(StoreUnavailable, match="cannot read the account's token"):
            read(access(answers))
        assert answers.asked == []
