"""Weights are fetched by the words of the Job, from where its ConfigMaps say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.deploy.mounts import start
from tests.deploy.objects import pods
from tests.deploy.rendering import BASE, rendered
from tests.fakes.hub_server import COMMIT, HubRepository, HubServer


def test_a_mirror_is_asked_instead_of_the_hub(made: Path, tmp_path: Path) -> None:
    (job,) = (pod for pod in pods(rendered(BASE)) if pod.component == "model-download")
    judge = job.spec["initContainers"][0]
    given = start(job, judge, rendered(BASE), made, tmp_path)
    repository, revision = (given.variables[f"JUDGE_{each}"] for each in ("REPOSITORY", "REVISION"))
    words = [
        # The Hub's commits are those of the real models.
        each.replace(repository, "lab/judge")
        .replace(revision, COMMIT)
        .replace("=/", f"={tmp_path}/")
        for each in given.arguments
    ]
    _, *module = judge["command"]
    folders = {"HF_HOME": str(tmp_path / "hub"), "HF_TOKEN_PATH": str(tmp_path / "none")}
    with HubServer({"lab/judge": HubRepository({"config.json": b"{}", "a/b.txt": b"b"})}) as mirror:
        subprocess.run(
            [sys.executable, *module, *words],
            env=os.environ | given.variables | folders | {"HF_ENDPOINT": mirror.url},
            check=True,
        )
    place = tmp_path / "models" / "lab" / "judge" / COMMIT
    assert {name: (place / name).read_bytes() for name in ("config.json", "a/b.txt")} == {
        "config.json": b"{}",
        "a/b.txt": b"b",
    }


def test_the_token_of_the_hub_is_given_to_those_that_fetch_alone() -> None:
    (job,) = (pod for pod in pods(rendered(BASE)) if pod.component == "model-download")
    held = {
        each["name"]
        for each in job.containers
        if "token" in {mount["name"] for mount in each["volumeMounts"]}
    }
    assert held == {"judge", "reader", "captioner"}
