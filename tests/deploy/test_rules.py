"""Alert and recording rules: their own cases by promtool, and that people can act on each."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.dashboards import rules
from tests.fakes.sources import ROOT
from tests.servers import metrics_server
from tests.servers.absence import leave_out

FOLDER = ROOT / "deploy" / "prometheus"
CASES = sorted((FOLDER / "tests").glob("*.yaml"))
ASKED = [
    asked
    for file in CASES
    for case in yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)["tests"]
    for asked in case["alert_rule_test"]
]
ALERTS = [rule for rule in rules() if "alert" in rule]
PAGE = (ROOT / "docs" / "alerts.md").read_text("utf-8")

pytestmark = pytest.mark.components("Prometheus")


def promtool(*arguments: str | Path) -> None:
    if absent := metrics_server.lacks():
        leave_out("Prometheus", " and ".join(absent))
    done = subprocess.run(
        ["promtool", *arguments], capture_output=True, text=True, check=False, cwd=FOLDER
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("cases", CASES, ids=lambda file: file.stem)
def test_each_alert_fires_when_it_should_and_not_when_it_should_not(cases: Path) -> None:
    promtool("test", "rules", cases)


def test_a_case_that_is_wrong_would_be_told(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "prometheus")
    cases = tmp_path / "prometheus" / "tests" / CASES[0].name
    cases.write_text(cases.read_text("utf-8").replace("0.8x10", "0.99x10"), "utf-8")
    with pytest.raises(AssertionError, match="FAILED"):
        promtool("test", "rules", cases)


def test_the_configuration_is_one() -> None:
    promtool("check", "config", "prometheus.yml")


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_says_what_where_and_what_to_do(alert: Any) -> None:
    name = alert["alert"]
    assert alert["labels"]["severity"] in {"page", "ticket"}
    said = alert["annotations"]
    assert {"summary", "description", "runbook_url"} == said.keys()
    where = "{{ $externalLabels.runbooks }}docs/alerts.md"
    assert said["runbook_url"] == f"{where}#{name.lower()}"
    chapter = PAGE.partition(f"## {name}\n")[2].partition("\n## ")[0]
    assert chapter.startswith(f"\n**{alert['labels']['severity']}**: ")
    assert re.search(r"^1\. ", chapter, re.MULTILINE), "no first thing to do"


@pytest.mark.parametrize("alert", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_has_a_case_of_both_kinds(alert: Any) -> None:
    fires = {bool(each.get("exp_alerts")) for each in ASKED if each["alertname"] == alert["alert"]}
    assert fires == {True, False}
