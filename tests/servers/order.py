"""The order in which workers beside each other take files of tests."""

from __future__ import annotations

import os

import pytest

LONGEST = (
    "services/test_faults_jobs.py",
    "services/test_faults_services.py",
    "services/test_faults_outages.py",
    "services/test_rolling_upgrade.py",
    "bench/test_thirty.py",
    "services/test_random_faults.py",
    "containers/test_release_image.py",
    "services/test_faults_two_aggregators.py",
    "cli/test_served_checkpoints.py",
    "services/test_recovery.py",
    "services/test_faults_losses.py",
    "services/test_stop_criteria_kills.py",
    "services/test_encryption.py",
    "adapters/streams/test_kafka.py",
    "adapters/hosts/test_triton.py",
    "bench/test_services.py",
    "tools/test_up.py",
    "cli/test_suite_buckets.py",
    "services/test_suites.py",
    "services/test_served_suites.py",
)
"""Files that take long and begin first: one that begins last keeps all waiting."""
_PLACES = {f"tests/{name}": place for place, name in enumerate(LONGEST)}
_WAITING = "tests/services/"
"""Tests that wait more than they compute come next: beside them others use the processors."""


def sort(items: list[pytest.Item]) -> None:
    """Sort by file where workers share them."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: place(item.nodeid))


def place(test: str) -> int:
    """The place of a test by its id: the longest files, services, then all others as collected."""
    after = len(_PLACES) if test.startswith(_WAITING) else len(_PLACES) + 1
    return _PLACES.get(test.partition("::")[0], after)
