"""The folder of the manifests itself: what a change in it does, and what must not be in it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.deploy.objects import pods
from tests.deploy.rendering import BASE, MANIFESTS, build, rendered
from tests.fakes.sources import ROOT
from tests.servers import kustomize

from caliper.version import __version__

_WORDS_THAT_LET_IN = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(hf|ghp|gho|glpat)_[A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{16}\b"
)
_MODEL_SERVERS = {"Deployment/tgi-judge", "Deployment/tgi-reader", "Deployment/triton"}
# Where settings of the installation are written down.
_FOLDERS = ("deploy", "docker")


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, str, str], set[str]]:
    """Changes a file of a copy, and says which workloads' pods are others then."""
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")

    def change(file: str, old: str, new: str) -> set[str]:
        place = tmp_path / "deploy" / file
        text = place.read_text("utf-8")
        assert old in text
        place.write_text(text.replace(old, new), "utf-8")
        before = {pod.name: pod.template for pod in pods(rendered(BASE))}
        after = {pod.name: pod.template for pod in pods(build(tmp_path / "deploy" / "k8s"))}
        return {name for name in before if before[name] != after[name]}

    return change


@pytest.mark.components(kustomize.NAME)
@pytest.mark.parametrize(
    ("file", "old", "new", "replaced"),
    [
        ("k8s/base/judge/config.env", "GRACE=60", "GRACE=61", {"Deployment/judge"}),
        ("k8s/base/prometheus/prometheus.yml", "15s", "20s", {"StatefulSet/prometheus"}),
        ("prometheus/rules/alerts.yaml", "for: 2m", "for: 3m", {"StatefulSet/prometheus"}),
        ("grafana/dashboards/health.json", '"title"', '"tilte"', {"Deployment/grafana"}),
        (
            "k8s/base/tgi/nginx.conf",
            "worker_processes 2",
            "worker_processes 4",
            _MODEL_SERVERS - {"Deployment/triton"},
        ),
        (
            "k8s/base/model-download/models.env",
            "Qwen/Qwen2.5-VL-7B-Instruct",
            "lab/captioner",
            {*_MODEL_SERVERS, "Job/model-download"},
        ),
    ],
)
def test_a_change_of_configuration_replaces_the_pods_that_read_it(
    file: str, old: str, new: str, replaced: set[str], changed: Callable[[str, str, str], set[str]]
) -> None:
    assert changed(file, old, new) == replaced


@pytest.mark.components(kustomize.NAME)
def test_the_version_of_our_image_stands_in_one_place(
    changed: Callable[[str, str, str], set[str]],
) -> None:
    ours = {
        pod.name
        for pod in pods(rendered(BASE))
        if any(each["image"] == f"caliper:{__version__}" for each in pod.containers)
    }
    tag = "newTag: "
    assert (
        changed("k8s/base/common/kustomization.yaml", f"{tag}{__version__}", f"{tag}9.9.9") == ours
    )


def test_a_laptop_runs_the_same_images() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    used = {each["image"] for each in compose["services"].values()}
    # Docker's own registry is not named there.
    deployed = {
        each["image"].removeprefix("docker.io/")
        for pod in pods(rendered(BASE))
        for each in pod.containers
    }
    assert used <= deployed


def test_no_secret_is_in_the_tree() -> None:
    files = [file for name in _FOLDERS for file in (ROOT / name).rglob("*") if file.is_file()]
    files += ROOT.glob("compose*.yaml")
    assert len(files) > 50
    for file in files:
        text = file.read_text("utf-8", errors="replace")
        assert not _WORDS_THAT_LET_IN.search(text), file
        assert not re.search(r"^kind: Secret$", text, re.MULTILINE), file


@pytest.mark.parametrize("text", ["-----BEGIN EC PRIVATE KEY-----", "hf_" + "a" * 34])
def test_a_secret_would_be_found(text: str) -> None:
    assert _WORDS_THAT_LET_IN.search(text)


def test_every_file_is_used() -> None:
    """A file that no kustomization names does nothing, and nobody would know."""
    folders = {file.parent for file in MANIFESTS.rglob("kustomization.yaml")}
    assert MANIFESTS / "base" in folders
    for folder in folders:
        said = yaml.safe_load((folder / "kustomization.yaml").read_text("utf-8"))
        words = set(re.findall(r"[\w.-]+", yaml.safe_dump(said)))
        files = {each.name for each in folder.iterdir() if each.is_file()}
        assert files - words <= {"kustomization.yaml", "README.md"}, folder
