"""Clients trust what their file of certificates holds when they connect."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
import urllib3
from tests.fakes.certificates import Pair
from tests.fakes.chat_server import ChatServer

from caliper.adapters.cluster.certificates import Authority
from caliper.adapters.trust import tls_context
from caliper.core.errors import InvalidInput

DAY = timedelta(days=1)
Connect = Callable[[ssl.SSLContext, str], Awaitable[None]]


def authority(name: str) -> Authority:
    return Authority.make(name, datetime.now(UTC), DAY)


def pair(folder: Path, by: Authority) -> Pair:
    made = by.certify(["localhost", "127.0.0.1"], datetime.now(UTC), DAY)
    found = Pair(folder / "tls.crt", folder / "tls.key")
    found.certificate.write_bytes(made.chain)
    found.key.write_bytes(made.key)
    return found


async def by_asyncio(context: ssl.SSLContext, url: str) -> None:
    connector = aiohttp.TCPConnector(ssl=context, force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session, session.get(url):
        pass


async def by_threads(context: ssl.SSLContext, url: str) -> None:
    with urllib3.PoolManager(ssl_context=context, retries=False) as pool:
        await asyncio.to_thread(pool.request, "GET", url)


@pytest.mark.parametrize("connect", [by_asyncio, by_threads])
async def test_a_new_authority_is_trusted_beside_the_old(tmp_path: Path, connect: Connect) -> None:
    old, new = authority("old"), authority("new")
    file = tmp_path / "ca.crt"
    file.write_bytes(old.text)
    context = tls_context(file)
    async with ChatServer(tls=pair(tmp_path, old)) as first:
        await connect(context, first.url)
    async with ChatServer(tls=pair(tmp_path, new)) as second:
        with pytest.raises((aiohttp.ClientError, urllib3.exceptions.HTTPError)):
            await connect(context, second.url)
        file.write_bytes(b"half of a file")
        with pytest.raises((aiohttp.ClientError, urllib3.exceptions.HTTPError)):
            await connect(context, second.url)
        file.write_bytes(old.text + new.text)
        await connect(context, second.url)
    async with ChatServer(tls=pair(tmp_path, old)) as third:
        await connect(context, third.url)


def test_names_and_old_protocols_are_refused_as_by_default(tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    file.write_bytes(authority("ours").text)
    context = tls_context(file)
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.verify_flags == ssl.create_default_context().verify_flags
    # Only what the file holds.
    assert context.cert_store_stats()["x509_ca"] == 1


@pytest.mark.parametrize("content", [None, b"", b"none"])
def test_a_file_that_holds_none(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "ca.crt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput, match="cannot be used") as refused:
        tls_context(file)
    assert str(file) in str(refused.value)
