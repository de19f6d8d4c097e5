import asyncio
import socket
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer
from tests.servers.process import free_ports

from caliper.adapters.cluster.certificates import Authority
from caliper.adapters.metrics.catalogue import CERTIFICATE
from caliper.adapters.metrics.page import metrics_application
from caliper.adapters.metrics.prometheus import PrometheusTelemetry
from caliper.core.errors import InvalidInput
from caliper.ports.telemetry import SILENT
from caliper.serving.addresses import Address
from caliper.serving.metrics import metrics_parts, process_telemetry
from caliper.serving.web import own_names_only
from caliper.wiring.service_settings import JudgeSettings


def test_metrics_are_on_loopback_unless_set() -> None:
    assert JudgeSettings().metrics() == Address("127.0.0.1", 0)
    assert JudgeSettings(metrics_address="[::1]:9464").metrics() == Address("::1", 9464)
    assert JudgeSettings(metrics_address="").metrics() is None
    with pytest.raises(InvalidInput, match="CALIPER_JUDGE_METRICS_ADDRESS"):
        JudgeSettings(metrics_address="9464").metrics()


@pytest.mark.parametrize("address", [None, Address("127.0.0.1", 0)])
def test_nothing_is_served_where_nobody_keeps_metrics(address: Address | None) -> None:
    telemetry = process_telemetry() if address is None else SILENT
    assert metrics_parts(telemetry, address).tasks == ()


@pytest.mark.parametrize("served", [True, False])
def test_the_end_of_the_certificate_that_is_served_is_told(tmp_path: Path, served: bool) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    authority = Authority.make("authority", now, timedelta(days=9))
    file = tmp_path / "tls.crt"
    # With that of the authority behind it, which is good for longer.
    file.write_bytes(authority.certify(["localhost"], now, timedelta(days=3)).chain)
    telemetry = process_telemetry()
    assert isinstance(telemetry, PrometheusTelemetry)
    metrics_parts(telemetry, Address("127.0.0.1", 0), file if served else None)
    told = telemetry.metrics.registry.get_sample_value(CERTIFICATE.name)
    assert told == ((now + timedelta(days=3)).timestamp() if served else 0)
    file.write_bytes(authority.certify(["localhost"], now, timedelta(days=5)).chain)
    told = telemetry.metrics.registry.get_sample_value(CERTIFICATE.name)
    assert told == ((now + timedelta(days=5)).timestamp() if served else 0)


@pytest.mark.parametrize("content", [None, b"-----BEGIN CERTIFICATE-----"])
def test_a_certificate_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "tls.crt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput, match="cannot be read") as told:
        metrics_parts(process_telemetry(), Address("127.0.0.1", 0), file)
    assert str(file) in str(told.value)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:9464", 200),
        ("[::1]:9464", 200),
        ("10.1.2.3", 200),
        ("localhost:1", 200),
        ("judge:9464", 200),
        pytest.param(socket.gethostname(), 200, id="this machine"),
        ("judge.example.org:9464", 200),
        ("rebound.example.com:9464", 403),
        ("127.0.0.1.example.com", 403),
        ("", 403),
        ("[", 403),
    ],
)
async def test_metrics_are_given_by_own_names_only(host: str, status: int) -> None:
    """A page that made its own name point here (DNS rebinding) sends that name."""
    telemetry = process_telemetry()
    assert isinstance(telemetry, PrometheusTelemetry)
    application = metrics_application(telemetry.metrics)
    application.middlewares.append(own_names_only(Address("Judge.example.org", 9464)))
    async with (
        TestClient(TestServer(application)) as client,
        client.get("/metrics", headers={"Host": host}) as answer,
    ):
        assert answer.status == status
        assert ("caliper_" in await answer.text()) == (status == 200)


async def test_the_port_of_a_service_answers_own_names_only() -> None:
    address = Address("127.0.0.1", *free_ports(1))
    (serve,) = metrics_parts(process_telemetry(), address).tasks
    serving = asyncio.ensure_future(serve())
    async with aiohttp.ClientSession() as session:
        statuses = []
        for host in ("localhost", "rebound.example.com"):
            while len(statuses) < (1 if host == "localhost" else 2):
                with suppress(aiohttp.ClientConnectorError):
                    url, headers = f"http://{address}/metrics", {"Host": host}
                    async with session.get(url, headers=headers) as answer:
                        statuses.append(answer.status)
    serving.cancel()
    assert statuses == [200, 403]


async def test_a_service_whose_metrics_have_no_port_says_so() -> None:
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    address = Address(*taken.sockets[0].getsockname())
    async with taken:
        (serving,) = metrics_parts(process_telemetry(), address).tasks
        with pytest.raises(InvalidInput, match=f"cannot listen on {address}"):
            await serving()
