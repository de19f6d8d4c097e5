"""What a service imports before its settings have named anything."""

import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.sources import python_path

NAMED_BY_SETTINGS = frozenset(
    {"aiohttp", "av", "cryptography", "kafka", "minio", "numpy", "PIL", "prometheus_client"}
    | {"pyarrow", "tritonclient", "caliper.adapters.models.lexical"}
)
"""Models, stores, streams, media, exports, pages, metrics and certificates."""


def test_a_service_imports_what_its_settings_name(tmp_path: Path) -> None:
    program = "import sys, caliper.wiring.startup; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": python_path()}
    words = [sys.executable, "-c", program]
    told = subprocess.check_output(words, cwd=tmp_path, env=environment, text=True, timeout=90)
    found = set(told.split())
    assert "grpc" in found
    assert not found & NAMED_BY_SETTINGS
