"""When the certificates of brokers, store and models end is read from their connections."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.certificates import Pair
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import FakeClock
from tests.fakes.telemetry import RecordedTelemetry

from caliper.adapters.trust import tls_context
from caliper.ports.security_events import CertificateRead
from caliper.serving.addresses import Address
from caliper.serving.peer_certificates import PeerCertificates, certificate_parts
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.models import Access, ModelRoom
from caliper.wiring.service_settings import JudgeSettings
from caliper.wiring.startup import peer_parts


def context(tmp_path: Path) -> ssl.SSLContext:
    return tls_context(tmp_path / "tls" / "ca.pem")


async def test_the_first_end_of_several_is_told(ours: Pair, tmp_path: Path) -> None:
    told = RecordedTelemetry()
    async with ChatServer() as gone:
        pass
    async with ChatServer(tls=ours) as chat:
        addresses = [Address("127.0.0.1", port) for port in (gone.port, chat.port)]
        peer = PeerCertificates("model", addresses, context(tmp_path), told, FakeClock())
        await peer.read()
        assert chat.requests == []
    (end,) = told.of(CertificateRead)
    assert end.peer == "model"
    expected = (datetime.now(UTC) + timedelta(days=2)).timestamp()
    assert end.time == pytest.approx(expected, abs=120)


async def test_a_peer_that_is_away_is_not_told(tmp_path: Path, ours: Pair) -> None:
    told = RecordedTelemetry()
    async with ChatServer(tls=ours) as chat:
        pass
    address = Address("127.0.0.1", chat.port)
    await PeerCertificates("model", [address], context(tmp_path), told, FakeClock()).read()
    assert told.events == []


def test_peers_without_tls_are_not_asked(tmp_path: Path, ours: Pair) -> None:
    parts = certificate_parts("kafka", (), context(tmp_path), RecordedTelemetry(), FakeClock())
    assert parts.tasks == ()


@pytest.mark.parametrize("encrypted", [True, False])
def test_brokers_and_store_are_peers(encrypted: bool, tmp_path: Path, ours: Pair) -> None:
    ground: Ground = memory_ground(None)  # type: ignore[arg-type]
    ca = tmp_path / "tls" / "ca.pem" if encrypted else None
    settings = JudgeSettings(
        kafka="kafka:9093",
        kafka_security="SSL" if encrypted else "PLAINTEXT",
        kafka_ca=ca,
        store=f"http{'s' if encrypted else ''}://minio:9000",
        store_ca=ca,
    )
    found = [len(parts.tasks) for parts in peer_parts(settings, ground)]
    assert found == ([1, 1] if encrypted else [])


async def test_the_endpoints_of_a_room_are_known(ours: Pair, tmp_path: Path) -> None:
    room = ModelRoom(Access(ca=tmp_path / "tls" / "ca.pem"), SystemClock())
    async with ChatServer(tls=ours) as chat, asyncio.timeout(30):
        await room.chat_model(f"tgi:{chat.url}")
        assert [address.port for address in room.encrypted] == [chat.port]
        await room.close()
