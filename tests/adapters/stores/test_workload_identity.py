"""Keys that are lent to a workload: got by its token, got anew, and refused without telling it."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import urllib3
from tests.fakes.clock import PATIENCE
from tests.fakes.http_answers import AnswerHandler, serving
from tests.fakes.identity_provider import CLIENT, TokenService, openid_issuer, token_service
from tests.servers import object_server
from tests.servers.access import access_to
from tests.servers.process import free_ports

from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.minio import MinioStore
from caliper.adapters.stores.workload_identity import WorkloadIdentity, WorkloadProvider
from caliper.core.errors import StoreUnavailable

ROLE = "arn:aws:iam::123456789012:role/caliper"


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a service account's token, as the variables of a pod name it."""
    file = tmp_path / "token"
    file.write_text("token-of-pod", "utf-8")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(file))
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    return file


@pytest.fixture
def service() -> Iterator[TokenService]:
    with token_service() as found:
        yield found


@pytest.fixture
def pool() -> Iterator[urllib3.PoolManager]:
    with urllib3.PoolManager(retries=False, timeout=10) as found:
        yield found


def provider(url: str, pool: urllib3.PoolManager) -> WorkloadProvider:
    return WorkloadProvider(WorkloadIdentity(url), pool)


def test_keys_are_lent_for_a_token_and_role(
    token: Path, service: TokenService, pool: urllib3.PoolManager
) -> None:
    lent = provider(service.url, pool)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: lent.retrieve(), range(8)))
    assert {(each.access_key, each.secret_key, each.session_token) for each in found} == {
        ("lent-1", "secret-1", "session-1")
    }
    (asked,) = service.asked
    assert asked["Action"] == "AssumeRoleWithWebIdentity"
    assert (asked["WebIdentityToken"], asked["RoleArn"]) == ("token-of-pod", ROLE)


def test_before_they_expire_keys_are_got_anew_by_the_token_of_that_moment(
    token: Path, service: TokenService, pool: urllib3.PoolManager
) -> None:
    service.seconds = 30.0
    lent = provider(service.url, pool)
    assert lent.retrieve().access_key == "lent-1"
    token.write_text("the-next-token", "utf-8")
    service.seconds = 3600.0
    assert [lent.retrieve().access_key for _ in range(2)] == ["lent-2", "lent-2"]
    assert [each["WebIdentityToken"] for each in service.asked] == [
        "token-of-pod",
        "the-next-token",
    ]


@pytest.mark.parametrize(
    ("status", "told"),
    [(403, r"answered 403; does the role in AWS_ROLE_ARN trust"), (204, "none that can be read")],
)
def test_who_refuses_is_named_and_the_token_is_not(
    token: Path, service: TokenService, pool: urllib3.PoolManager, status: int, told: str
) -> None:
    service.status = status
    with pytest.raises(StoreUnavailable, match=told) as refused:
        provider(service.url, pool).retrieve()
    assert "token-of-pod" not in str(refused.value)
    assert (refused.value.__cause__, refused.value.__context__) == (None, None)


def test_nobody_there_and_no_token_are_told_apart(
    token: Path, service: TokenService, pool: urllib3.PoolManager
) -> None:
    nobody = f"http://127.0.0.1:{free_ports(1)[0]}"
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1 does not answer$"):
        provider(nobody, pool).retrieve()
    token.unlink()
    with pytest.raises(StoreUnavailable, match="the token cannot be read: No such file"):
        provider(service.url, pool).retrieve()


def test_containers_are_lent_keys_by_a_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pool: urllib3.PoolManager
) -> None:
    """EKS Pod Identity: a URL in the pod's variables, and a file with its token."""
    asked = []

    class Agent(AnswerHandler):
        def get(self) -> None:
            asked.append(self.headers["Authorization"])
            keys = {"AccessKeyId": "a", "SecretAccessKey": "b", "Token": "c"}
            self.answer({**keys, "Expiration": "2999-01-01T00:00:00Z"})

    file = tmp_path / "token"
    file.write_text("token-of-agent", "utf-8")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(file))
    with serving(Agent) as address:
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"http://{address}/v1/credentials")
        lent = provider("", pool)
        assert [lent.retrieve().session_token for _ in range(2)] == ["c", "c"]
    assert asked == ["token-of-agent"]


@pytest.mark.components("MinIO")
def test_a_real_store_is_used_without_a_key(tmp_path: Path, token: Path) -> None:
    with openid_issuer() as issuer:
        settings = {
            "MINIO_IDENTITY_OPENID_CONFIG_URL": f"{issuer.url}/.well-known/openid-configuration",
            "MINIO_IDENTITY_OPENID_CLIENT_ID": CLIENT,
            "MINIO_IDENTITY_OPENID_CLAIM_NAME": "policy",
        }
        server, url = object_server.start(tmp_path, settings=settings)
        try:
            root = access_to(url, "caliper")
            apply_storage(root)
            lent = replace(root, access_key="", secret_key="", identity=WorkloadIdentity(root.url))
            token.write_text(issuer.token(policy="readwrite"), "utf-8")
            assert asyncio.run(first_written(lent)) == b"1"
            token.write_text(issuer.token(policy="none-of-that-name"), "utf-8")
            with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1 answered 4"):
                asyncio.run(written(lent))
        finally:
            server.stop()


async def first_written(access: StoreAccess) -> bytes | None:
    """MinIO is ready before it knows who issues tokens, and refuses them until then."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                return await written(access)
            except StoreUnavailable:
                await asyncio.sleep(0.1)


async def written(access: StoreAccess) -> bytes | None:
    store = MinioStore(access)
    try:
        await store.put("jobs/one", b"1")
        return await store.get("jobs/one")
    finally:
        await store.close()
