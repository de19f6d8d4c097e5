"""`caliper serve`, scraped over HTTP while and after it works on a real run."""

import json
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from tests.fakes.command import Command, end, wait_for
from tests.fakes.sources import ROOT
from tests.servers.absence import leave_out

from caliper.adapters.metrics.labels import LABELS

CONFIG = ROOT / "examples" / "careful.yaml"
PAGE = ROOT / "docs" / "metrics.md"
# Never measured: it only ends a test whose scores do not come.
PATIENCE = 30.0
CLOSED = {label.name: set(label.values) for label in LABELS if label.closed}


@dataclass(frozen=True, slots=True)
class InstallationAddresses:
    """Where an installation is called, and where its metrics are read."""

    address: str
    metrics: str

    def scrape(self) -> str:
        with urllib.request.urlopen(self.metrics, timeout=10) as reply:  # noqa: S310 - ours
            text: str = reply.read().decode()
        return text

    def families(self) -> dict[str, Metric]:
        return {family.name: family for family in text_string_to_metric_families(self.scrape())}

    def value(self, sample: str, **labels: str) -> float | None:
        for family in self.families().values():
            for found in family.samples:
                if found.name == sample and labels.items() <= found.labels.items():
                    return found.value
        return None


@pytest.fixture
def served(tmp_path: Path) -> Iterator[InstallationAddresses]:
    command = Command(tmp_path)
    process = command.start("serve", "--listen", "127.0.0.1:0", "--store", "there")
    _, address, metrics = wait_for(process, r"Serving on (\S+)", r"metrics on (\S+)")
    yield InstallationAddresses(address, metrics)
    assert end(process, signal.SIGTERM).code == 0


def documented() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Type and labels of every metric in docs/metrics.md."""
    rows = re.findall(
        r"^\| `(caliper_\w+)` \| (\w+) \| ([\w, ]*) \|", PAGE.read_text(), re.MULTILINE
    )
    return {
        name: (kind, tuple(labels.split(", ")) if labels.strip() else ())
        for name, kind, labels in rows
    }


def test_a_run_shows_in_the_metrics_and_these_in_the_page(
    served: InstallationAddresses, tmp_path: Path
) -> None:
    assert served.metrics.startswith("http://127.0.0.1:")
    caliper = Command(tmp_path)
    evaluate = ("evaluate", "--config", CONFIG, "--json")
    there = caliper(*evaluate, "--server", served.address, "--out", "there-report", code=0)
    alone = caliper(*evaluate, "--out", "alone", code=0)
    # Metrics are telemetry: the report is that of a process that keeps none, to the byte.
    assert there.out == alone.out
    told = json.loads(alone.out)
    planned = told["benchmarks"]["captionqa"]["coverage"]["planned"]
    known = {"model": told["name"], "benchmark": "captionqa"}
    deadline = time.monotonic() + PATIENCE
    while served.value("caliper_questions", **known, state="scored") != planned:
        assert time.monotonic() < deadline, served.scrape()
        time.sleep(0.1)
    score = told["benchmarks"]["captionqa"]["overall"]["score"]
    for window in ("run", "hour"):
        labels = {**known, "dimension": "overall", "metric": "score", "window": window}
        assert served.value("caliper_score", **labels) == pytest.approx(score)
        assert served.value("caliper_score_bound", **labels, bound="low") is not None
    assert served.value("caliper_verdicts_total", **known, outcome="scored") == planned
    assert served.value("caliper_job_seconds_count", stage="qa_reader", outcome="done")
    assert served.value("caliper_freshness_seconds_count")
    assert served.value("caliper_consumer_lag", stage="judge", topic="judge-jobs") == 0

    page, families = documented(), served.families()
    for name, family in families.items():
        if name.startswith("caliper_"):
            full = f"{name}_total" if family.type == "counter" else name
            kind, labels = page[full]
            assert kind == family.type
            for sample in family.samples:
                assert set(sample.labels) - {"le"} == set(labels)
                for label, value in sample.labels.items():
                    assert value in CLOSED.get(label, {value}), (name, label)
    shown = {
        f"{name}_total" if family.type == "counter" else name for name, family in families.items()
    }
    assert shown >= page.keys()


def test_promtool_reads_them(served: InstallationAddresses) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        leave_out("promtool", "it is part of Prometheus, which is not installed")
    text = served.scrape().encode()
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
