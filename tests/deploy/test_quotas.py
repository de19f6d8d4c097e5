"""The example of quotas in the README of the manifests."""

import re
from pathlib import Path

import pytest
import yaml
from tests.deploy.rendering import MANIFESTS, build
from tests.fakes.sources import ROOT
from tests.servers import kustomize

from caliper.wiring.quota_file import read_quotas


def section(page: Path) -> str:
    """The code of the section about quotas."""
    found = re.search(
        r"^### Quotas\n.*?```yaml\n(.*?)```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert found
    return found[1]


def test_the_file_on_the_page_is_read(tmp_path: Path) -> None:
    file = tmp_path / "quotas.yaml"
    file.write_text(section(ROOT / "docs/services.md"), "utf-8")
    table = read_quotas(file)
    assert table.of("vision").calls_a_day == 200_000
    assert table.of("another").runs_at_once == 4


@pytest.mark.components(kustomize.NAME)
def test_the_gateway_finds_the_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "quotas.yaml").write_text("default: {runs_at_once: 4}\n", "utf-8")
    # kustomize follows relative paths only.
    base = Path("/".join([".."] * len(mine.resolve().parts[1:]))) / MANIFESTS.relative_to("/")
    text = yaml.safe_dump({"resources": [f"{base}/base"]}) + section(MANIFESTS / "README.md")
    (mine / "kustomization.yaml").write_text(text, "utf-8")
    made = {(each["kind"], each["metadata"]["name"]): each for each in build(mine)}
    pod = made["Deployment", "gateway"]["spec"]["template"]["spec"]
    (mount,) = (each for each in pod["containers"][0]["volumeMounts"] if each["name"] == "quotas")
    assert {"name": "quotas", "configMap": {"name": "quotas"}} in pod["volumes"]
    settings = made["ConfigMap", pod["containers"][0]["envFrom"][-1]["configMapRef"]["name"]]
    (file,) = made["ConfigMap", "quotas"]["data"]
    assert settings["data"]["CALIPER_GATEWAY_QUOTAS"] == f"{mount['mountPath']}/{file}"
