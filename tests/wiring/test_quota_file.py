from pathlib import Path

import pytest

from caliper.core.errors import InvalidInput
from caliper.core.quotas import NO_LIMITS, QuotaTable, TeamLimits
from caliper.wiring.quota_file import read_quotas


def written(folder: Path, text: str) -> Path:
    file = folder / "quotas.yaml"
    file.write_text(text, "utf-8")
    return file


def test_limits_by_team_and_of_all_others(tmp_path: Path) -> None:
    text = "default: {runs_at_once: 4}\nteams:\n  red: {calls_a_day: 9, bytes_stored: 0}\n"
    found = read_quotas(written(tmp_path, text))
    assert found.of("red") == TeamLimits(calls_a_day=9, bytes_stored=0)
    assert found.of("blue") == TeamLimits(runs_at_once=4)


@pytest.mark.parametrize("text", ["", "teams: {}", "default: {}"])
def test_without_limits_nothing_is_limited(tmp_path: Path, text: str) -> None:
    found = read_quotas(written(tmp_path, text))
    assert found == QuotaTable()
    assert found.of("red") == NO_LIMITS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("team: {}", r"quotas.yaml:1: team: unknown key; known: default, teams"),
        ("teams:\n  red:\n    calls: 3", r"yaml:3: teams.red.calls: unknown key; .*calls_a_day"),
        ("teams:\n  red: {calls_a_day: -1}", r"yaml:2: teams.red.calls_a_day: expected at least 0"),
        (f"default: {{bytes_stored: {1 << 64}}}", r"yaml:1: default.bytes_stored: expected less "),
        ("teams:\n  red: {calls_a_day: '9'}", r"yaml:2: teams.red.calls_a_day: expected a whole "),
        ("default: {}\ndefault: {}", r"yaml:2: the key default appears twice"),
        ("teams:\n  ../red: {}", r"yaml:2: teams.../red: expected text like "),
        ("- 1", r"quotas.yaml: "),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_quotas(written(tmp_path, text))
