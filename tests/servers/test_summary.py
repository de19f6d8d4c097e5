"""The end of a test session says what was used, what was left out, and why."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from tests.servers import containers, kustomize
from tests.servers.components import COMPONENTS, KAFKA, MINIO
from tests.servers.summary import NEEDS, told

Outcome = Literal["passed", "failed", "skipped"]
When = Literal["setup", "call", "teardown"]


def report(
    name: str, outcome: Outcome, *needs: str, when: When = "call", why: str = ""
) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=name,
        location=("test_it.py", 1, name),
        keywords={},
        outcome=outcome,
        longrepr=("test_it.py", 1, f"Skipped: {why}") if outcome == "skipped" else None,
        when=when,
        user_properties=[(NEEDS, need) for need in needs],
    )


def lines(ran: list[pytest.TestReport], skipped: list[pytest.TestReport]) -> dict[str, list[str]]:
    """What is said of each component, and of everything else."""
    names = [component.name for component in COMPONENTS]
    subjects = (*names, containers.NAME, "Chromium", kustomize.NAME, "left out")
    found: dict[str, list[str]] = {name: [] for name in subjects}
    for line in told(ran, skipped):
        subject, _, words = line.partition(": ")
        found[next(name for name in found if subject.startswith(name))].append(words)
    return found


def test_what_was_used_is_counted_once_a_test() -> None:
    ran = [
        report("a", "passed", "Kafka", "MinIO"),
        report("b", "failed", "Kafka"),
        report("b", "failed", "Kafka", when="teardown"),
    ]
    said = lines(ran, [])
    assert said["Kafka"] == ["used by 2 tests"]
    assert said["MinIO"] == ["used by 1 test"]
    assert said["Chromium"] == ["not needed by these tests"]


def test_what_was_left_out_is_told_with_its_reasons() -> None:
    skipped = [
        report("a", "skipped", "Kafka", when="setup", why="no java on this machine"),
        report("b", "skipped", "Kafka", "MinIO", when="setup", why="no java on this machine"),
        report("c", "skipped", "Chromium", when="setup", why="no Chromium"),
        report("d", "skipped", when="call", why="needs /proc"),
    ]
    said = lines([], skipped)
    assert said["Kafka"] == ["left out of 2 tests: no java on this machine"]
    assert said["MinIO"] == ["left out of 1 test: no java on this machine"]
    assert said["Chromium"] == ["left out of 1 test: no Chromium"]
    assert said["left out"] == ["1 test: needs /proc"]


def test_what_fails_for_want_of_a_component_has_not_used_it() -> None:
    said = lines([report("a", "failed", "MinIO", when="setup")], [])
    assert said["MinIO"] == ["1 test FAILED for want of it, or before they began"]


def test_a_component_is_told_with_its_version_or_its_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(KAFKA.variable, raising=False)
    monkeypatch.setenv(MINIO.variable, "http://127.0.0.1:9")
    first, second, *_ = told([], [])
    assert first.startswith(f"Kafka {KAFKA.version}: ")
    assert second.startswith(f"MinIO of {MINIO.variable}: ")


def test_what_the_faults_need_is_counted_where_it_is_not_there(tmp_path: Path) -> None:
    # Neither fetched before, nor the tools to fetch it with.
    bare = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    promised = ("CI", KAFKA.variable, MINIO.variable)
    kept = {name: value for name, value in os.environ.items() if name not in promised}
    root = Path(__file__).resolve().parents[2]
    services = root / "tests" / "services"
    faults = [str(services / f"test_faults_{name}.py") for name in ("full", "services")]
    pytest_alone = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    ended = subprocess.run(
        [*pytest_alone, *faults],
        cwd=root,
        env=kept | bare,
        capture_output=True,
        text=True,
        check=True,
    )
    said = ended.stdout.partition(" components ")[2]
    counted = re.search(r"^Kafka .*: left out of (\d+) tests: no Kafka", said, re.MULTILINE)
    skipped = re.search(r"(\d+) skipped", said)
    assert counted is not None
    assert skipped is not None
    assert counted[1] == skipped[1]
    assert not re.search("^left out: ", said, re.MULTILINE)
