from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy.dashboards import FILES, panels
from tests.deploy.objects import of_kind
from tests.deploy.rendering import MANIFESTS, build, write_part
from tests.docs.pages import blocks
from tests.fakes.sources import ROOT, python_path
from tests.servers import kustomize
from tests.servers.kube_api import KubeApi

from caliper.adapters.streams.kafka_access import KafkaAccess
from caliper.adapters.streams.kafka_topics import apply_topics

PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
NEEDS_PODS = "*on a cluster*"


def tried() -> tuple[list[str], list[str]]:
    """The blocks of commands that an API server is enough for, and those that need pods, as the
    paragraph before each says.
    """
    found: tuple[list[str], list[str]] = ([], [])
    before = re.split(r"^```sh\n.*?^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    for text, block in zip(before, blocks("operations.md", "sh"), strict=False):
        paragraph = text.strip().rpartition("\n\n")[2]
        found[NEEDS_PODS in paragraph.lower()].append(block)
    return found


HERE, ON_A_CLUSTER = tried()


def shell(script: str, folder: Path, programs: Path, **environment: str) -> str:
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": path} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_commands_do_what_they_say_on_an_api_server(own_kube_api: KubeApi, tmp_path: Path) -> None:
    write_part(tmp_path, "Namespace", "Deployment", "StatefulSet", "Job")
    own_kube_api.kubectl("apply", "-k", tmp_path / "deploy" / "k8s")
    replicas = []
    for block in HERE:
        shell(block, tmp_path, own_kube_api.programs, **own_kube_api.environment)
        replicas.append([one["spec"]["replicas"] for one in _deployments(own_kube_api)])
    as_applied, none = [1, 2, 1, 2, 2], [0] * 5
    assert replicas == [
        [1, 2, 1, 4, 2],
        # An upgrade.
        as_applied,
        # A copy of the store.
        [0, 2, 0, 2, 2],
        as_applied,
        # What is restored.
        *[none] * 2,
        as_applied,
    ]


def _deployments(api: KubeApi) -> list[dict[str, Any]]:
    names = ("aggregator", "captioner", "gateway", "judge", "qa-reader")
    return [
        each for each in api.listed("deployments", "caliper") if each["metadata"]["name"] in names
    ]


def test_dead_letters_are_reached_with_the_settings_of_the_gateway(
    kafka: KafkaAccess, tmp_path: Path
) -> None:
    apply_topics(kafka, partitions=4)
    (block,) = (block for block in ON_A_CLUSTER if "dead-letters" in block)
    # What stands for the pod: its Python, with what it has in its environment.
    stand_in = tmp_path / "kubectl"
    stand_in.write_text(f'#!/bin/sh\nshift 5\nexec "{sys.executable}" "$@"\n', "utf-8")
    stand_in.chmod(0o755)
    asked = block.replace("kafka:9093", kafka.servers).replace("inside dead-letters show 0-0\n", "")
    said = shell(
        asked,
        tmp_path,
        tmp_path,
        PYTHONPATH=python_path(),
        CALIPER_GATEWAY_KAFKA_PREFIX=kafka.prefix,
    )
    assert "dead letter" in said


@pytest.mark.parametrize("block", ON_A_CLUSTER)
def test_commands_that_need_pods_are_commands(block: str, tmp_path: Path) -> None:
    assert shell(f"bash -n <<'END'\n{block}END", tmp_path, tmp_path) == ""


@pytest.mark.components(kustomize.NAME)
def test_what_is_said_in_a_folder_of_ones_own_renders(tmp_path: Path) -> None:
    base = os.path.relpath(MANIFESTS / "base", tmp_path.resolve())
    wanted: dict[str, Any] = {"resources": [base]}
    for block in blocks("operations.md", "yaml"):
        wanted |= yaml.safe_load(block)
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(wanted), "utf-8")
    made = build(tmp_path)
    (judge,) = (one for one in of_kind(made, "Deployment") if one["metadata"]["name"] == "judge")
    (topics,) = (one for one in of_kind(made, "Job") if one["metadata"]["name"] == "topics")
    assert judge["spec"]["replicas"] == 4
    (arguments,) = (each["args"] for each in topics["spec"]["template"]["spec"]["containers"])
    assert [each for each in arguments if "partitions" in each] == ["--partitions=24"]


def test_the_panels_are_there() -> None:
    section = PAGE.partition("## Reading the dashboards")[2].partition("## Upgrade")[0]
    there = {panel["title"] for file in FILES for panel in panels(file)}
    named = re.findall(r"\*([A-Z][^*]+)\*", section)
    assert len(named) > 8
    assert set(named) <= there


def test_the_sums_are_right() -> None:
    sums = re.findall(r"([\d,.]+) ([/x]) ([\d.,]+)( ms)? (=|->) (\d[\d,.]*\d|\d)", PAGE)
    assert len(sums) > 4
    for one, sign, other, unit, rounds, told in sums:
        left, right, result = (float(each.replace(",", "")) for each in (one, other, told))
        found = left / right if sign == "/" else left * right / (1000 if unit else 1)
        places = len(told.partition(".")[2])
        expected = math.ceil(found) if rounds == "->" else round(found + 1e-9, places)
        assert expected == result, f"{one} {sign} {other} is {found}"
