"""Refused calls: the first of a minute have lines, the rest are counted."""

import asyncio
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.telemetry import until

from caliper.serving.audit import LOGGER, Audit, AuditLine, RefusalLog, peer_address

JUDGE = "/caliper.api.judge.v1.JudgeService/Judge"
LINE = AuditLine("", "10.0.0.1", JUDGE, "", "UNAUTHENTICATED")


@pytest.fixture(autouse=True)
def _every_level(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.INFO, LOGGER):
        yield


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [json.loads(record.getMessage()) for record in caplog.records if record.name == LOGGER]


def test_the_first_refusals_of_a_minute_and_the_number_of_the_rest(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = RefusalLog(lines=2)
    for method in ("/a", "/b", "/c", "/d"):
        log.add(replace(LINE, method=method))
    log.add(replace(LINE, peer="10.0.0.2"))
    log.add(replace(LINE, caller="ours", outcome="PERMISSION_DENIED"))
    log.end_minute()
    log.add(LINE)
    log.end_minute()
    found = [(line["peer"], line["method"], line.get("calls")) for line in lines(caplog)]
    assert found == [
        ("10.0.0.1", "/a", None),
        ("10.0.0.1", "/b", None),
        ("10.0.0.2", JUDGE, None),
        ("10.0.0.1", JUDGE, None),
        ("10.0.0.1", "", 2),
        ("10.0.0.1", JUDGE, None),
    ]


def test_it_counts_for_a_bounded_number_of_peers(caplog: pytest.LogCaptureFixture) -> None:
    log = RefusalLog(lines=1, sources=2)
    for peer in ("a", "b", "a", "a", "c", "d"):
        log.add(replace(LINE, peer=peer))
    # `b` had been quiet for longest when `c` came, and then `a`, of which two were not told.
    found = [(line["peer"], line.get("calls", 1)) for line in lines(caplog)]
    assert found == [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("a", 2)]
    log.add(replace(LINE, peer="b"))
    assert len(lines(caplog)) == 6


async def test_minutes_end_by_themselves(caplog: pytest.LogCaptureFixture) -> None:
    audit = Audit()
    for _ in range(21):
        audit.refusals.add(LINE)
    minutes = asyncio.create_task(audit.run(minute=0))
    await until(lambda: len(lines(caplog)) == 21)
    minutes.cancel()


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:10.1.2.3:50051", "10.1.2.3"),
        ("ipv6:%5B::1%5D:50051", "::1"),
        ("ipv6:[fe80::1%25eth0]:1", "fe80::1%eth0"),
        ("unix:/run/x", "unix:/run/x"),
    ],
)
def test_the_address_of_a_peer(peer: str, address: str) -> None:
    assert peer_address(peer) == address
