"""Prometheus takes what docs/alerts.md says to add."""

import shutil
import subprocess
from pathlib import Path

from tests.docs.pages import blocks
from tests.servers.absence import leave_out

(ALERTING,) = blocks("alerts.md", "yaml")


def test_prometheus_takes_the_lines(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        leave_out("promtool", "no promtool on this machine")
    (tmp_path / "prometheus.yml").write_text(ALERTING, "utf-8")
    checked = ["promtool", "check", "config", str(tmp_path / "prometheus.yml")]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
