"""The order in which workers beside each other collect and run files of tests."""

from __future__ import annotations

import os
from typing import TypeVar

import pytest

LONGEST = (
    "services/test_faults_jobs.py",
    "services/test_faults_services.py",
    "services/test_faults_outages.py",
    "services/test_rolling_upgrade.py",
    "bench/test_thirty.py",
    "services/test_random_faults.py",
    "services/test_faults_two_aggregators.py",
    "cli/test_served_checkpoints.py",
    "services/test_restored.py",
    "services/test_faults_losses.py",
    "services/test_decided_separately.py",
    "services/test_secured.py",
    "adapters/streams/test_kafka.py",
    "adapters/hosts/test_triton.py",
    "bench/test_services.py",
    "tools/test_up.py",
    "services/test_processes.py",
    "cli/test_suite_buckets.py",
)
"""Files that take a minute or more, which begin first: one that begins last keeps all waiting."""
_PLACES = {f"tests/{name}": place for place, name in enumerate(LONGEST)}
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_Entry = TypeVar("_Entry")


def from_another_on(
    entries: list[_Entry], worker: int = _WORKER, workers: int = _WORKERS
) -> list[_Entry]:
    """The entries of a folder, beginning elsewhere for every worker: what one has compiled, others
    find compiled when they come there.
    """
    start = len(entries) * worker // workers
    return entries[start:] + entries[:start]


def sort(items: list[pytest.Item]) -> None:
    """Sort by file, however they were collected."""
    if _WORKERS > 1:
        items.sort(key=lambda item: place(item.nodeid))


def place(test: str) -> tuple[int, list[str]]:
    """The place of a test by its id: the longest files first, others as their folders list them."""
    file = test.partition("::")[0]
    return _PLACES.get(file, len(_PLACES)), file.split("/")
