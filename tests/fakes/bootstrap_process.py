"""The bootstrap program, run as in its Job: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fakes.command import Ended, forked
from tests.fakes.sources import python_path
from tests.servers.kube_api import KubeApi

from caliper.adapters.cluster.recipes import SecretPlan, recipes

RECIPES = recipes(SecretPlan("caliper", datetime.now(UTC), timedelta(1), timedelta(1)))
_MODULE = "services.bootstrap"


def start(settings: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start the program with only these settings."""
    return subprocess.Popen(
        [sys.executable, "-m", _MODULE],
        env=_variables(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(settings: Mapping[str, str]) -> Ended:
    return forked(_MODULE, [], _variables(settings), Path.cwd())


def _variables(settings: Mapping[str, str]) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("CALIPER_")
    }
    variables = {f"CALIPER_BOOTSTRAP_{name}": value for name, value in settings.items()}
    return inherited | variables | {"PYTHONPATH": python_path()}


def settings(api: KubeApi, namespace: str, account: Path) -> dict[str, str]:
    """The settings of the Job's pod, except for the API server's URL and the account's folder."""
    return {"API": api.url, "ACCOUNT": str(account), "NAMESPACE": namespace, "PATIENCE": "60"}
