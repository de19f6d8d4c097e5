"""The example of quotas in the README of the manifests."""

import re
from pathlib import Path

import pytest
from tests.deploy.examples import example, kustomization, write
from tests.deploy.rendering import build
from tests.fakes.sources import ROOT
from tests.servers import kustomize

from caliper.wiring.quota_file import read_quotas


def test_the_file_on_the_page_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "services.md").read_text("utf-8")
    found = re.search(r"^### Quotas\n.*?```yaml\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    assert found
    file = tmp_path / "quotas.yaml"
    file.write_text(found[1], "utf-8")
    table = read_quotas(file)
    assert table.of("vision").calls_a_day == 200_000
    assert table.of("another").runs_at_once == 4


@pytest.mark.components(kustomize.NAME)
def test_the_gateway_finds_the_file(tmp_path: Path) -> None:
    objects = build(write(kustomization(example("Quotas")), tmp_path / "mine"))
    made = {(each["kind"], each["metadata"]["name"]): each for each in objects}
    pod = made["Deployment", "gateway"]["spec"]["template"]["spec"]
    (mount,) = (each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "quotas")
    assert {"name": "quotas", "configMap": {"name": "quotas"}} in pod["volumes"]
    settings = made["ConfigMap", pod["containers"][0]["envFrom"][-1]["configMapRef"]["name"]]
    (file,) = made["ConfigMap", "quotas"]["data"]
    assert settings["data"]["CALIPER_GATEWAY_QUOTAS"] == f"{mount['mountPath']}/{file}"
