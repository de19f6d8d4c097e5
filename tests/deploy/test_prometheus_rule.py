from __future__ import annotations

import subprocess
import sys

import yaml
from tests.fakes.sources import ROOT

OBJECTS = ROOT / "deploy" / "k8s" / "components" / "prometheus-operator" / "rules.yaml"


def test_they_are_up_to_date() -> None:
    check = [sys.executable, ROOT / "tools" / "prometheus_rule.py", "--check"]
    subprocess.run(check, check=True)


def test_every_group_is_there_once() -> None:
    written = yaml.safe_load_all(OBJECTS.read_text("utf-8"))
    given = [group for each in written for group in each["spec"]["groups"]]
    files = sorted((ROOT / "deploy" / "prometheus" / "rules").glob("*.yaml"))
    read = [yaml.safe_load(file.read_text("utf-8")) for file in files]
    assert given == [group for each in read for group in each["groups"]]
