"""What only a server can show: it is away, it hangs, it is full, it refuses."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import uuid4

import pytest
from minio.commonconfig import DISABLED, ENABLED, AndOperator, Filter, Tags
from minio.lifecycleconfig import Expiration, LifecycleConfig, NoncurrentVersionExpiration, Rule
from tests.servers.access import access_to
from tests.servers.process import ServerProcess, free_ports

from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.bucket import EXPIRE, apply_storage
from caliper.adapters.stores.minio import MinioStore
from caliper.core.errors import InvalidInput, StoreFull, StoreUnavailable

REFUSAL = """<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>{code}</Code><Message>said so</Message><Resource>/b/k</Resource></Error>"""


def fresh(minio: str, patience: float = 15.0) -> StoreAccess:
    return access_to(minio, f"tests-{uuid4().hex[:12]}", patience)


def rules_of(access: StoreAccess) -> dict[str, Rule]:
    with access.connections() as pool:
        config = access.client(pool).get_bucket_lifecycle(access.bucket)
    return {str(rule.rule_id): rule for rule in (config.rules if config else ())}


def make_bucket(access: StoreAccess, *rules: Rule) -> None:
    with access.connections() as pool:
        client = access.client(pool)
        client.make_bucket(access.bucket)
        client.set_bucket_lifecycle(access.bucket, LifecycleConfig([*rules]))


@asynccontextmanager
async def opened(access: StoreAccess) -> AsyncIterator[MinioStore]:
    store = MinioStore(access)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def answering(status: str, body: str) -> AsyncIterator[str]:
    """The URL of a server that gives every request the same answer; none to status ""."""
    held = list[asyncio.StreamWriter]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)
        head = await reader.readuntil(b"\r\n\r\n")
        for line in head.decode().lower().splitlines():
            if line.startswith("content-length:"):
                await reader.readexactly(int(line.split(":")[1]))
        if status:
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in held:
            writer.close()


def named(url: str, patience: float) -> StoreAccess:
    return StoreAccess(url, "bucket", "key", "secret", patience=patience)


def test_storage_is_applied_once_and_mended_later(minio: str) -> None:
    access = fresh(minio)
    assert apply_storage(access) == [
        f"created bucket {access.bucket}",
        *(f"{prefix} expires after {days} days" for prefix, days in EXPIRE.items()),
    ]
    assert apply_storage(access) == []
    apply_storage(access, {"aggregator/": 3})
    assert apply_storage(access) == [
        f"{prefix} expires after {days} days" for prefix, days in EXPIRE.items()
    ]
    assert apply_storage(access) == []


def test_rules_of_others_are_kept(minio: str) -> None:
    access = fresh(minio)
    weekly = NoncurrentVersionExpiration(noncurrent_days=7)
    snapshots = "aggregator"
    make_bucket(
        access,
        Rule(ENABLED, Filter(prefix="logs/"), "logs", expiration=Expiration(days=30)),
        Rule(ENABLED, Filter(prefix=""), "versions", noncurrent_version_expiration=weekly),
        Rule(DISABLED, Filter(prefix="media/"), "media", expiration=Expiration(days=90)),
        # Ours, switched off.
        Rule(DISABLED, Filter(prefix="aggregator/"), snapshots, expiration=Expiration(days=14)),
    )
    before = rules_of(access)
    assert apply_storage(access) == [
        f"{prefix} expires after {days} days" for prefix, days in EXPIRE.items()
    ]
    after = rules_of(access)
    assert {name: after[name] for name in ("logs", "versions", "media")} == {
        name: before[name] for name in ("logs", "versions", "media")
    }
    assert set(after) == set(before)
    assert after[snapshots].status == ENABLED
    assert apply_storage(access) == []


def test_rules_that_could_not_be_kept_as_they_are_stay_untouched(minio: str) -> None:
    access = fresh(minio)
    tags = Tags.new_object_tags()
    tags["team"] = "theirs"
    both = Filter(and_operator=AndOperator(prefix="logs/", tags=tags))
    rule = Rule(ENABLED, rule_filter=both, rule_id="tagged", expiration=Expiration(days=2))
    make_bucket(access, rule)
    before = rules_of(access)
    with pytest.raises(InvalidInput, match=r"nothing was changed.*aggregator/ after 14"):
        apply_storage(access)
    assert rules_of(access) == before


async def test_a_listing_has_no_end_at_a_page(minio: str) -> None:
    access = fresh(minio)
    apply_storage(access)
    names = [f"jobs/{number:04}" for number in range(1010)]
    async with opened(access) as store:
        await asyncio.gather(*(store.put(name, b"") for name in names))
        assert [name async for name in store.list("jobs/")] == names


async def test_a_bucket_that_is_not_there_is_named(minio: str) -> None:
    access = fresh(minio)
    async with opened(access) as store:
        with pytest.raises(StoreUnavailable, match=f"{access.bucket}: NoSuchBucket"):
            await store.put("jobs/one", b"1")
        with pytest.raises(StoreUnavailable, match="NoSuchBucket"):
            await store.get("jobs/one")
        with pytest.raises(StoreUnavailable, match="NoSuchBucket"):
            [name async for name in store.list("")]


async def test_a_wrong_secret_is_no_absent_object_and_is_not_printed(minio: str) -> None:
    access = replace(fresh(minio), secret_key="not-the-secret")
    assert "not-the-secret" not in repr(access)
    async with opened(access) as store:
        with pytest.raises(StoreUnavailable, match="SignatureDoesNotMatch") as caught:
            await store.get("jobs/one")
    assert "not-the-secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["minio:9000", "ftp://minio", "http://minio/bucket", "http://", ""])
def test_what_is_no_endpoint_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="endpoint"):
        MinioStore(named(url, 1.0))


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        ("507 Insufficient Storage", "XMinioStorageFull", StoreFull),
        ("400 Bad Request", "XMinioAdminBucketQuotaExceeded", StoreFull),
        ("403 Forbidden", "AccessDenied", StoreUnavailable),
        ("503 Service Unavailable", "SlowDown", StoreUnavailable),
        ("500 Internal Server Error", "InternalError", StoreUnavailable),
    ],
)
async def test_what_the_server_says_is_told_apart(
    status: str, code: str, expected: type[Exception]
) -> None:
    refusal = REFUSAL.format(code=code)
    async with answering(status, refusal) as url, opened(named(url, 3.0)) as store:
        with pytest.raises(expected, match=code) as caught:
            await store.put("jobs/one", b"1")
        assert type(caught.value) is expected


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found", "502 Bad Gateway"])
async def test_an_answer_that_is_not_of_a_store_is_trouble(status: str) -> None:
    async with answering(status, "<html>") as url, opened(named(url, 3.0)) as store:
        with pytest.raises(StoreUnavailable):
            [name async for name in store.list("")]


async def test_a_server_that_never_answers_is_given_up_in_time() -> None:
    # The limit only ends a test that would hang.
    async with answering("", "") as url, opened(named(url, 0.6)) as store, asyncio.timeout(30):
        for call in (store.put("jobs/one", b"1"), store.get("jobs/one")):
            with pytest.raises(StoreUnavailable, match=r"does not answer \(not in time\)$"):
                await call


async def test_nobody_there_is_unavailable() -> None:
    [port] = free_ports(1)
    access = named(f"http://127.0.0.1:{port}", 0.6)
    async with opened(access) as store:
        with pytest.raises(StoreUnavailable) as caught:
            await store.put("jobs/one", b"1")
    told = f"bucket {access.bucket}: the store does not answer (connection refused)"
    assert str(caught.value) == told


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_a_server_that_is_away_for_a_while_is_used_again(
    own_minio: tuple[ServerProcess, str], end: str
) -> None:
    server, url = own_minio
    access = fresh(url, patience=3.0)
    apply_storage(access)
    async with opened(access) as store:
        await store.put("jobs/one", b"1")
        await asyncio.to_thread(getattr(server, end))
        async with asyncio.timeout(30):
            for call in (store.put("jobs/two", b"2"), store.get("jobs/one")):
                with pytest.raises(StoreUnavailable):
                    await call
            with pytest.raises(StoreUnavailable):
                [name async for name in store.list("")]
        await asyncio.to_thread(server.start)
        assert await store.get("jobs/one") == b"1"
        assert await store.get("jobs/two") is None
        await store.put("jobs/two", b"2")
        assert [name async for name in store.list("")] == ["jobs/one", "jobs/two"]
