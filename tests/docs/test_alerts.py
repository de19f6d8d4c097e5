"""What docs/alerts.md says to apply is taken, and changes what it says."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.deploy.objects import of_kind
from tests.deploy.rendering import BASE, MANIFESTS, build, rendered
from tests.docs.pages import blocks
from tests.servers import kustomize
from tests.servers.absent import leave_out

ALERTING, KUSTOMIZATION, POLICY = blocks("alerts.md", "yaml")


@pytest.mark.components(kustomize.NAME)
def test_the_bundled_prometheus_is_pointed_at_an_alertmanager(tmp_path: Path) -> None:
    before = {each["metadata"]["name"] for each in of_kind(rendered(BASE), "NetworkPolicy")}
    bundled = (MANIFESTS / "base" / "prometheus" / "prometheus.yml").read_text("utf-8")
    (tmp_path / "prometheus.yml").write_text(bundled + ALERTING, "utf-8")
    (tmp_path / "alertmanager.yaml").write_text(POLICY, "utf-8")
    # kustomize follows relative paths only.
    base = os.path.relpath(MANIFESTS / "base", tmp_path.resolve())
    assert "../base\n" in KUSTOMIZATION
    told = KUSTOMIZATION.replace("../base\n", f"{base}\n")
    (tmp_path / "kustomization.yaml").write_text(told, "utf-8")
    objects = build(tmp_path)
    assert {each["metadata"]["name"] for each in of_kind(objects, "NetworkPolicy")} - before == {
        "alertmanager"
    }
    (given,) = (
        each["data"]["prometheus.yml"]
        for each in of_kind(objects, "ConfigMap")
        if "prometheus.yml" in each.get("data", {})
    )
    assert yaml.safe_load(given) == yaml.safe_load(bundled) | yaml.safe_load(ALERTING)


def test_prometheus_takes_the_lines(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        leave_out("promtool", "no promtool on this machine")
    (tmp_path / "prometheus.yml").write_text(ALERTING, "utf-8")
    checked = ["promtool", "check", "config", str(tmp_path / "prometheus.yml")]
    done = subprocess.run(checked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
