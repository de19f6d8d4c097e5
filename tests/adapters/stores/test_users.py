"""Users of a real MinIO: each does what its service does, and nothing else."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from minio import MinioAdmin
from minio.credentials.providers import StaticProvider
from minio.error import MinioAdminException
from tests.servers.access import access_to

from caliper.adapters.cluster.grants import StoreGrant, policy, store_policy
from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.minio import MinioStore
from caliper.adapters.stores.source_bucket import SourceBucket
from caliper.adapters.stores.users import StoreUser, apply_store_users, remove_store_users
from caliper.core.errors import StoreUnavailable

RUN = "runs/0123456789abcdef"


@pytest.fixture
def access(minio: str) -> StoreAccess:
    found = access_to(minio, f"tests-{secrets.token_hex(6)}")
    apply_storage(found)
    return found


def made(access: StoreAccess, name: str, own: dict[str, Any] | None = None) -> StoreUser:
    """A user that no other test has."""
    told = own or store_policy(name, access.bucket)
    return StoreUser(f"{name}-{access.bucket}", secrets.token_hex(16), told)


@asynccontextmanager
async def opened(access: StoreAccess, user: StoreUser) -> AsyncIterator[MinioStore]:
    store = MinioStore(replace(access, access_key=user.access_key, secret_key=user.secret_key))
    yield store
    await store.close()


async def test_each_does_what_its_service_does_and_nothing_else(
    access: StoreAccess, tmp_path: Path
) -> None:
    users = {name: made(access, name) for name in ("judge", "aggregator", "gateway", "client")}
    await asyncio.to_thread(apply_store_users, access, list(users.values()))
    report, spec, pack = f"{RUN}/report/report.json", f"{RUN}/spec.json", "packs/a.pack"
    large = tmp_path / "large"
    # In two parts.
    large.write_bytes(bytes(6 << 20))
    async with AsyncExitStack() as stack:
        judge, aggregator, gateway, client = [
            await stack.enter_async_context(opened(access, user)) for user in users.values()
        ]
        await gateway.put(spec, b"a spec")
        await aggregator.put(report, large)
        version = await aggregator.replace("aggregator/seat-0.json", b"a", None)
        assert await aggregator.replace("aggregator/seat-0.json", b"b", version)
        await gateway.put("media/a", b"a picture")
        await client.put("health/doctor", b"well")
        await judge.put(pack, b"a pack")
        assert await judge.get(spec) == b"a spec"
        # Not there, rather than denied.
        assert await judge.get(f"{RUN}/end.json") is None
        assert await judge.get("health") is None
        assert [key async for key in judge.list("packs/")] == [pack]
        assert [key async for key in judge.list(f"{RUN}/spent/1/")] == []
        for denied in (
            judge.put(report, b"of my own"),
            judge.put(spec, b"of my own"),
            judge.get(report),
            judge.get("media/a"),
            judge.delete(pack),
            judge.list("runs/").__anext__(),
            judge.list("").__anext__(),
            gateway.put(report, b"of my own"),
            gateway.get("aggregator/seat-0.json"),
            client.put("datasets/names/a/v1.json", b"of my own"),
            client.get(spec),
            client.delete("health/doctor"),
        ):
            with pytest.raises(StoreUnavailable, match="AccessDenied"):
                await denied
        await gateway.delete(report, spec, pack)
        assert [key async for key in gateway.list("runs/")] == []


async def test_suites_read_and_mark_checkpoints_elsewhere(access: StoreAccess) -> None:
    other = replace(access, bucket=f"{access.bucket}-models")
    await asyncio.to_thread(apply_storage, other)
    told = store_policy("suites", access.bucket, [f"{other.bucket}/step-"])
    suites = made(access, "suites", told)
    await asyncio.to_thread(apply_store_users, access, [suites])
    root = MinioStore(other)
    for key in ("step-1/a.json", "secret/a.json"):
        await root.put(key, b"a caption")
    await root.close()
    own = SourceBucket(replace(other, access_key=suites.access_key, secret_key=suites.secret_key))
    assert await own.keys("step-1/") == ["step-1/a.json"]
    assert await own.get("step-1/a.json") == b"a caption"
    marker = ".step-1.nightly.caliper-lease"
    await own.put(marker, b"mine")
    await own.delete(marker)
    for denied in (own.get("secret/a.json"), own.put("step-1/a.json", b""), own.keys("secret/")):
        with pytest.raises(StoreUnavailable, match="AccessDenied"):
            await denied
    await own.close()


async def test_what_is_right_stays_and_what_differs_is_corrected(access: StoreAccess) -> None:
    narrow = made(access, "judge", policy(StoreGrant(("health",)).statements(access.bucket)))
    first = await asyncio.to_thread(apply_store_users, access, [narrow])
    assert first == [f"wrote policy {narrow.access_key}", f"created user {narrow.access_key}"]
    assert await asyncio.to_thread(apply_store_users, access, [narrow]) == []
    wide = made(access, "judge")
    assert await asyncio.to_thread(apply_store_users, access, [wide]) == [
        f"wrote policy {wide.access_key}",
        f"replaced the secret key of user {wide.access_key}",
    ]
    async with opened(access, wide) as judge:
        await judge.put(f"{RUN}/anchors/capability.json", b"known")
    async with opened(access, narrow) as judge:
        with pytest.raises(StoreUnavailable, match="SignatureDoesNotMatch"):
            await judge.put("packs/a.pack", b"by the old key")


async def test_a_second_generation_works_beside_the_first_which_then_ends(
    access: StoreAccess,
) -> None:
    first = made(access, "judge")
    second = replace(made(access, "judge"), access_key=f"{first.access_key}-2")
    for user in (first, second):
        await asyncio.to_thread(apply_store_users, access, [user])
    async with opened(access, first) as old, opened(access, second) as new:
        for store in (old, new):
            await store.put("packs/a.pack", b"a pack")
        remove = partial(asyncio.to_thread, remove_store_users, access)
        assert await remove([first.access_key, "nobody"]) == [
            f"removed user {first.access_key}",
            f"removed policy {first.access_key}",
        ]
        with pytest.raises(StoreUnavailable, match="InvalidAccessKeyId"):
            await old.get("packs/a.pack")
        assert await new.get("packs/a.pack") == b"a pack"
        assert await remove([first.access_key]) == []


async def test_several_may_apply_the_same_at_once(access: StoreAccess) -> None:
    apply = partial(asyncio.to_thread, apply_store_users, access, [made(access, "judge")])
    await asyncio.gather(*(apply() for _ in range(4)))
    assert await apply() == []


async def test_nobody_makes_keys_that_outlive_its_own_or_users(access: StoreAccess) -> None:
    judge = made(access, "judge")
    await asyncio.to_thread(apply_store_users, access, [judge])
    credentials = StaticProvider(judge.access_key, judge.secret_key)
    endpoint = access.url.partition("://")[2]
    admin = MinioAdmin(endpoint=endpoint, credentials=credentials, secure=False)
    with pytest.raises(MinioAdminException, match="AccessDenied"):
        await asyncio.to_thread(
            admin.add_service_account, access_key="other-key", secret_key="other-secret"
        )
    limited = replace(access, access_key=judge.access_key, secret_key=judge.secret_key)
    with pytest.raises(StoreUnavailable, match="AccessDenied") as refused:
        await asyncio.to_thread(apply_store_users, limited, [made(access, "gateway")])
    assert judge.secret_key not in str(refused.value)
