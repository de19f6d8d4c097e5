"""A running server takes the certificates that its files hold, and callers those of theirs."""

import ssl
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import grpc
import pytest
from pydantic import SecretStr
from tests.fakes.loopback_server import (
    OPTIONS,
    TOKENS,
    bearer,
    code_of,
    judging,
    serving,
    stub_of,
    token_file,
)
from tests.fakes.stores import MemoryStore

from caliper.adapters.cluster.certificates import Authority
from caliper.adapters.remote.channel import ReopeningChannel, Target
from caliper.api.judge.v1 import judge_pb2
from caliper.core.errors import InvalidInput
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving.addresses import Address
from caliper.serving.server_certificates import Tls
from caliper.serving.webhooks import WebhookReceiver
from caliper.wiring.clock import SystemClock

REQUEST = judge_pb2.JudgeRequest()
DAY = timedelta(days=1)
OURS, OTHERS = (Authority.make(name, datetime.now(UTC), DAY) for name in ("ours", "others"))
OK, REFUSED = grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE


async def nothing() -> None:
    pass


def write(file: Path, content: bytes) -> Path:
    """Replace a file as a mounted Secret is replaced: by another file of its name."""
    new = file.with_name(f".{file.name}")
    new.write_bytes(content)
    return new.replace(file)


def pair(folder: Path, authority: Authority = OURS) -> Tls:
    """Write a new certificate for this machine into a folder."""
    folder.mkdir(exist_ok=True)
    made = authority.certify(["localhost", "127.0.0.1"], datetime.now(UTC), DAY)
    key, certificate = folder / "tls.key", folder / "tls.crt"
    return Tls(write(certificate, made.chain), write(key, made.key))


def callers(folder: Path, authority: Authority = OURS) -> Path:
    return write(folder / "ca.crt", authority.text)


def target(server: object, ca: Path, identity: Tls | None = None) -> Target:
    shown = None if identity is None else (identity.certificate, identity.key)
    return Target(str(server), ca=ca, identity=shown)


async def answer(where: Target) -> grpc.StatusCode:
    """What a new connection to a server gets."""
    async with where.channel() as channel:
        return await code_of(stub_of("JudgeService", channel).Judge(REQUEST))


async def test_a_certificate_is_swapped_under_a_running_server(tmp_path: Path) -> None:
    tls = pair(tmp_path / "server")
    ours = callers(tmp_path)
    others = write(tmp_path / "others.crt", OTHERS.text)
    async with serving(judging(nothing), options=replace(OPTIONS, tls=tls)) as server:
        old, new = target(server.address, ours), target(server.address, others)
        async with old.channel() as channel:
            stub = stub_of("JudgeService", channel)
            assert [await code_of(stub.Judge(REQUEST)), await answer(new)] == [OK, REFUSED]
            pair(tmp_path / "server", OTHERS)
            assert [await answer(old), await answer(new)] == [REFUSED, OK]
            # Connections are not cut.
            assert await code_of(stub.Judge(REQUEST)) is OK


def no_key(tls: Tls) -> None:
    write(tls.key, b"none")


def another_key(tls: Tls) -> None:
    write(tls.key, OTHERS.certify(["localhost"], datetime.now(UTC), DAY).key)


def no_file(tls: Tls) -> None:
    tls.certificate.unlink()


@pytest.mark.parametrize("broken", [no_key, another_key, no_file])
async def test_the_old_certificate_stays_while_the_files_are_none(
    tmp_path: Path, broken: Callable[[Tls], None]
) -> None:
    tls, ca = pair(tmp_path / "server"), callers(tmp_path)
    others = write(tmp_path / "others.crt", OTHERS.text)
    async with serving(judging(nothing), options=replace(OPTIONS, tls=tls)) as server:
        broken(tls)
        assert await answer(target(server.address, ca)) is OK
        pair(tmp_path / "server", OTHERS)
        assert await answer(target(server.address, others)) is OK


async def test_a_server_of_http_takes_new_files_as_well(tmp_path: Path) -> None:
    tls = pair(tmp_path / "server")
    trusts = [ssl.create_default_context(cadata=each.text.decode()) for each in (OURS, OTHERS)]
    secrets = {"wandb": "ours"}.get
    book = Administration(SuiteRegistry(MemoryStore(), SystemClock()))
    receiver = WebhookReceiver(book, (), secrets)

    async def taken(port: int) -> list[bool]:
        async with aiohttp.ClientSession() as session:
            answers = []
            for trust in trusts:
                try:
                    await session.get(f"https://127.0.0.1:{port}/", ssl=trust)
                except aiohttp.ClientConnectorCertificateError:
                    answers.append(False)
                else:
                    answers.append(True)
            return answers

    # Other machines may reach it, by TLS.
    async with receiver.listening(Address("0.0.0.0", 0), "field", tls.context()) as address:  # noqa: S104
        assert await taken(address.port) == [True, False]
        another_key(tls)
        assert await taken(address.port) == [True, False]
        pair(tmp_path / "server", OTHERS)
        assert await taken(address.port) == [False, True]
    no_file(tls)
    with pytest.raises(InvalidInput, match=r"tls\.crt: tls certificate: cannot be used"):
        tls.context()


async def test_a_server_may_want_a_certificate_of_its_callers(tmp_path: Path) -> None:
    ca = callers(tmp_path)
    tls = replace(pair(tmp_path / "server"), clients=ca)
    ours, stranger = pair(tmp_path / "ours"), pair(tmp_path / "stranger", OTHERS)
    options = replace(OPTIONS, tls=tls, tokens=token_file(tmp_path))
    async with serving(judging(nothing), options=options) as server:
        for shown in (None, stranger):
            assert await answer(target(server.address, ca, shown)) is REFUSED
        known = target(server.address, ca, ours)
        # It is asked for beside the token.
        assert await answer(known) is grpc.StatusCode.UNAUTHENTICATED
        with_token = replace(known, token=SecretStr(TOKENS["evaluate"]))
        assert with_token.metadata == bearer(TOKENS["evaluate"])
        async with known.channel() as channel:
            stub = stub_of("JudgeService", channel)
            assert await code_of(stub.Judge(REQUEST, metadata=with_token.metadata)) is OK


async def test_the_authorities_of_callers_are_read_again(tmp_path: Path) -> None:
    ca = callers(tmp_path)
    clients = write(tmp_path / "clients.crt", OURS.text)
    tls = replace(pair(tmp_path / "server"), clients=clients)
    stranger = pair(tmp_path / "stranger", OTHERS)
    async with serving(judging(nothing), options=replace(OPTIONS, tls=tls)) as server:
        where = target(server.address, ca, stranger)
        assert await answer(where) is REFUSED
        write(clients, OURS.text + OTHERS.text)
        assert await answer(where) is OK


async def test_a_caller_shows_and_trusts_what_its_files_hold(tmp_path: Path) -> None:
    ca, shown = callers(tmp_path), pair(tmp_path / "caller", OTHERS)
    tls = replace(pair(tmp_path / "server"), clients=write(tmp_path / "clients.crt", OURS.text))
    async with serving(judging(nothing), options=replace(OPTIONS, tls=tls)) as server:
        reopening = ReopeningChannel(target(server.address, ca, shown))

        async def code() -> grpc.StatusCode:
            return await code_of(stub_of("JudgeService", reopening.current()).Judge(REQUEST))

        assert await code() is REFUSED
        pair(tmp_path / "caller")
        assert await code() is OK
        assert reopening.current() is reopening.current()
        pair(tmp_path / "server", OTHERS)
        callers(tmp_path, OTHERS)
        assert await code() is OK
        await reopening.close()
