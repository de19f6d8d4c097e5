"""The templates for CI: what they may do, and their steps on the examples."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes.command import without_media
from tests.fakes.http_answers import AnswerHandler, serving
from tests.fakes.sources import EXAMPLES

CI = EXAMPLES / "ci"
MARK = "<!-- caliper gate -->\n"
GITHUB, GITLAB = "/repos/o/r/issues/7/comments", "/projects/3/merge_requests/7/notes"


class CommentApi:
    """The comments of a pull request, as both APIs have them. A person wrote the first hundred."""

    def __init__(self) -> None:
        self.comments = [self._comment(number, f"{MARK}mine", 1) for number in range(100)]
        self.requests: list[tuple[str, str, str | None]] = []
        self.url = ""

    def answer(self, method: str, path: str, body: str | None) -> Any:
        if path == "/user":
            return {"id": 2}
        if method == "GET":
            page = int(path.rpartition("page=")[2])
            return self.comments[100 * (page - 1) : 100 * page]
        if method == "POST":
            self.comments.append(self._comment(len(self.comments), body or "", 2))
            return self.comments[-1]
        found = self.comments[int(path.rpartition("/")[2])]
        found["body"] = body
        return found

    @staticmethod
    def _comment(number: int, body: str, author: int) -> dict[str, Any]:
        kind = "Bot" if author == 2 else "User"
        return {"id": number, "body": body, "user": {"type": kind}, "author": {"id": author}}


@pytest.fixture
def api() -> Iterator[CommentApi]:
    found = CommentApi()

    class Handler(AnswerHandler):
        def get(self) -> None:
            body = json.loads(self.body() or "{}").get("body")
            token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
            found.requests.append((self.command, self.path.partition("?")[0], token))
            self.answer(found.answer(self.command, self.path, body))

    with serving(Handler) as address:
        found.url = f"http://{address}"
        yield found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A working copy, with the commands that the jobs install."""
    examples = tmp_path / "examples"
    examples.mkdir()
    (examples / "ci").symlink_to(CI)
    for name in ("careful", "careless"):
        without_media(examples, name)
    (tmp_path / "bin").mkdir()
    commands = {"caliper": f'exec "{sys.executable}" -m caliper.cli "$@"', "pip": 'echo "$@" >>pip'}
    for name, command in commands.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{command}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def run(
    script: str, checkout: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    path = f"{checkout / 'bin'}:{os.environ['PATH']}"
    environment = {"PATH": path, "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **variables}
    command = ["bash", "-e", "-c", script]
    return subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def test_the_action_may_do_little_and_is_pinned() -> None:
    workflow = yaml.safe_load((CI / "github.yml").read_text())
    assert workflow["permissions"] == {}
    # YAML reads the key `on` as true.
    assert set(workflow[True]) == {"pull_request"}
    (job,) = workflow["jobs"].values()
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action) for action in used)
    # Only the step that comments has the token, and expressions are in no script.
    assert [step["name"] for step in job["steps"] if "GITHUB_TOKEN" in step.get("env", {})] == [
        "Comment"
    ]
    assert all("${{" not in step.get("run", "") for step in job["steps"])


def test_the_action_gates_and_comments_once(api: CommentApi, checkout: Path) -> None:
    (job,) = yaml.safe_load((CI / "github.yml").read_text())["jobs"].values()
    steps = {step["name"]: step for step in job["steps"] if "run" in step}
    given = {"GITHUB_API_URL": api.url, "GITHUB_REPOSITORY": "o/r", "PULL_REQUEST": "7"}
    variables = {**job["env"], **given, "GITHUB_TOKEN": "secret"}
    # Before the gate: nobody takes that for a pass.
    assert run(steps["Comment"]["run"], checkout, variables).returncode == 0
    assert api.comments[-1]["body"] == (
        f"{MARK}**The captions were not compared:** see the log of the job."
    )
    ended = run(steps["Gate"]["run"], checkout, job["env"])
    assert ended.returncode == 0, ended.stderr
    left = {"gate.md", "gate.xml", "candidate/report.html"}
    assert {file for file in left if (checkout / job["env"]["OUT"] / file).is_file()} == left
    assert run(steps["Comment"]["run"], checkout, variables).returncode == 0
    assert api.comments[-1]["body"].startswith(f"{MARK}### careful against careless\n\n**Passed.**")
    assert len(api.comments) == 101
    assert {comment["body"] for comment in api.comments[:100]} == {f"{MARK}mine"}
    assert ("PATCH", "/repos/o/r/issues/comments/100", "Bearer secret") in api.requests
    assert {path for _, path, _ in api.requests} == {GITHUB, "/repos/o/r/issues/comments/100"}
    worse = {**job["env"], "BASE": job["env"]["CANDIDATE"], "CANDIDATE": job["env"]["BASE"]}
    assert run(steps["Gate"]["run"], checkout, {**worse, "OUT": "worse"}).returncode == 1


def test_the_template_of_gitlab(api: CommentApi, checkout: Path) -> None:
    job = yaml.safe_load((CI / "gitlab.yml").read_text())["caliper-gate"]
    assert job["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    given = {"CI_API_V4_URL": api.url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"}
    variables = {**job["variables"], **given}
    (checkout / "gate").mkdir()
    (checkout / "gate" / "gate.md").write_text("findings\n")
    (comment,) = job["after_script"]
    ended = run(comment, checkout, variables)
    assert (ended.stdout, api.requests) == ("no comment: COMMENT_TOKEN is not set\n", [])
    for _ in range(2):
        ended = run(comment, checkout, {**variables, "COMMENT_TOKEN": "secret"})
        assert ended.returncode == 0, ended.stderr
    assert (api.comments[-1]["body"], len(api.comments)) == (f"{MARK}findings\n", 101)
    assert ("PUT", f"{GITLAB}/100", "secret") in api.requests
    *install, gate = job["script"]
    assert run("\n".join(install), checkout, job["variables"]).returncode == 0
    assert "caliper-captions" in (checkout / "pip").read_text()
    steps = yaml.safe_load((CI / "github.yml").read_text())["jobs"]["gate"]["steps"]
    assert gate in [step.get("run") for step in steps]
    # GitLab gives a variable of the project to every script.
    variables = {**job["variables"], "COMMENT_TOKEN": "secret"}
    assert run("caliper doctor --json", checkout, variables).returncode == 0
