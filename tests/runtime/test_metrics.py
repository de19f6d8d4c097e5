"""The page of metrics as a part of a service."""

import asyncio

import pytest

from caliper.core.errors import InvalidInput
from caliper.ports.telemetry import SilentTelemetry
from caliper.runtime.addresses import Address
from caliper.runtime.metrics import metrics_parts, process_telemetry
from caliper.runtime.service_settings import JudgeSettings


def test_metrics_are_on_loopback_unless_set() -> None:
    assert JudgeSettings().metrics() == Address("127.0.0.1", 0)
    assert JudgeSettings(metrics_address="[::1]:9464").metrics() == Address("::1", 9464)
    assert JudgeSettings(metrics_address="").metrics() is None
    with pytest.raises(InvalidInput, match="CALIPER_JUDGE_METRICS_ADDRESS"):
        JudgeSettings(metrics_address="9464").metrics()


@pytest.mark.parametrize("address", [None, Address("127.0.0.1", 0)])
def test_nothing_is_served_where_nobody_keeps_metrics(address: Address | None) -> None:
    telemetry = process_telemetry() if address is None else SilentTelemetry()
    assert metrics_parts(telemetry, address).tasks == ()


async def test_a_service_whose_metrics_have_no_port_says_so() -> None:
    taken = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    address = Address(*taken.sockets[0].getsockname())
    async with taken:
        (serving,) = metrics_parts(process_telemetry(), address).tasks
        with pytest.raises(InvalidInput, match=f"cannot listen on {address}"):
            await serving()
