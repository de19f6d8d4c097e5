"""`caliper quota`: a table for people, rows for programs."""

from pathlib import Path

import pytest
from tests.fakes import command
from tests.fakes.installation import listening

from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.quotas import QuotaTable, TeamLimits
from caliper.wiring.gateway_options import GatewayOptions
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

LIMITS = TeamLimits(runs_at_once=3, bytes_stored=2_000_000)
ROWS = [
    {"team": "default", "name": name, "used": 0, "limit": limit, "frees": frees}
    for name, limit, frees in (
        ("runs_at_once", 3, "when one of them ends"),
        ("bytes_stored", 2_000_000, "when an administrator raises it"),
    )
]


@pytest.mark.parametrize("limits", [LIMITS, TeamLimits()])
async def test_quotas_of_an_installation(tmp_path: Path, limits: TeamLimits) -> None:
    ground = memory_ground(DirectoryStore(tmp_path / "there"))
    options = GatewayOptions(quotas=lambda: QuotaTable(default=limits))
    parts = await all_services(ground, JudgeSettings(), QaReaderSettings(), None, options)
    async with listening(parts) as address:
        shown = await command.run(tmp_path, "quota", "--server", address)
        told = await command.run(tmp_path, "quota", "--server", address, "--json")
    if limits == TeamLimits():
        assert (shown.out, told.told) == ("No quotas.\n", [])
        return
    assert told.told == ROWS
    lines = [line.split() for line in shown.out.splitlines()]
    assert lines[0] == ["team", "quota", "used", "limit", "available", "again"]
    assert lines[2][:6] == ["default", "bytes", "stored", "0", "2,000,000", "when"]
