"""The order in which workers beside each other take files of tests."""

from __future__ import annotations

import os

import pytest

LONGEST = (
    "services/test_faults_jobs.py",
    "cli/test_suite_buckets.py",
    "services/test_faults_services.py",
    "adapters/hosts/test_triton.py",
    "services/test_faults_outages.py",
    "cli/test_served_checkpoints.py",
    "containers/test_release_image.py",
    "containers/test_evaluation.py",
    "services/test_random_faults.py",
    "local/test_gateway_evaluator.py",
    "services/test_rolling_upgrade.py",
    "adapters/streams/test_kafka_crashes.py",
    "services/test_faults_two_aggregators.py",
    "adapters/hosts/test_endpoint.py",
    "services/test_recovery.py",
    "adapters/models/test_triton_control.py",
    "services/test_faults_losses.py",
    "services/test_lives.py",
    "services/test_stop_criteria_kills.py",
    "adapters/streams/test_kafka.py",
    "bench/test_thirty.py",
    "cli/test_suites.py",
    "deploy/test_on_nodes.py",
    "deploy/test_any_cluster.py",
    "bench/test_services.py",
    "tools/test_up.py",
    "services/test_processes.py",
    "services/test_encryption.py",
)
"""Files that take long, which begin first: one that begins last keeps all waiting. Some work and
some wait; these take turns here.
"""
_PLACES = {f"tests/{name}": place for place, name in enumerate(LONGEST)}


def sort(items: list[pytest.Item]) -> None:
    """Sort by file where workers share them."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: place(item.nodeid))


def place(test: str) -> int:
    """The place of a test by its id: the longest files first, then all others as collected."""
    return _PLACES.get(test.partition("::")[0], len(_PLACES))
