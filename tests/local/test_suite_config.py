"""Files of suites: what they may say, and what makes another version."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import tiny
from tests.fakes.sources import ROOT
from tests.fakes.suites import checkpoint

from caliper.analysis.gate import Check, Policy
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import InvalidInput
from caliper.core.notice_marks import NoticeKind
from caliper.core.suites import Baseline, Suite
from caliper.local.notify import check_targets, notice_targets
from caliper.local.suite_config import read_suite, suite_policy, suite_run, without_revision
from caliper.local.suite_runs import outdated_runs
from caliper.ports.serving import CheckpointEndpoint
from caliper.wiring.clock import SystemClock
from caliper.wiring.references import referenced

PART = {"data": "data"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny.write_scenes(tmp_path, 2)
    return tmp_path


def written(folder: Path, **more: Any) -> Path:
    values = {"name": "nightly", "benchmarks": {"capability": PART}, **more}
    return tiny.text(folder / "suite.yaml", yaml.safe_dump(values, sort_keys=False))


def read(folder: Path, **more: Any) -> Suite:
    return read_suite(written(folder, **more))


def part(**more: Any) -> dict[str, Any]:
    return {"capability": {**PART, **more}}


def gate(figure: str) -> dict[str, Any]:
    return {"gate": {"checks": [{"benchmark": "capability", "figure": figure}]}}


def hook(**more: Any) -> dict[str, Any]:
    return {"notify": {"team": {"secret": "env:HOOK", "url": "http://127.0.0.1/", **more}}}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"wacth": 1}, ":5: wacth: unknown key; known: alarms, anchors, baseline, benchmarks, "),
        ({"name": "A b"}, ":1: name: expected lower-case letters"),
        ({"benchmarks": part(promt="x")}, ":5: benchmarks.capability.promt: unknown key"),
        ({"benchmarks": part(set={"readng": 1})}, ":5: benchmarks.capability.set: unknown setting"),
        ({"benchmarks": part(prompt="longg")}, ":5: benchmarks.capability.prompt: unknown caption"),
        ({"benchmarks": part(judge="lexcal")}, ":5: benchmarks.capability.judge: unknown model 'l"),
        ({"benchmarks": part(judge="chat:h")}, ":5: benchmarks.capability.judge: the URL must "),
        ({"benchmarks": part(captioner="tgi:h#{name}")}, ":5: benchmarks.capability.captioner: "),
        ({"benchmarks": part(data="nowhere")}, "nowhere: it does not exist"),
        ({"benchmarks": part(captions="../x")}, ":5: benchmarks.capability.captions: expected a "),
        (
            {"benchmarks": part(reader="lexical")},
            ":5: benchmarks.capability.reader: capability has no reader",
        ),
        ({"benchmarks": {"captionq": PART}}, ":2: benchmarks: unknown benchmark 'captionq'"),
        ({"benchmarks": part(captioner="tgi:http://h#{nme}")}, "captioner: unknown field {nme}"),
        ({"benchmarks": part(captioner="tgi:http://h#{name.x}")}, "unknown field {name.x}"),
        ({"baseline": "last"}, ":5: baseline: expected previous, best, pinned:REVISION or tag:"),
        ({"margin": -1}, ":5: margin: "),
        ({"margin": True}, ":5: margin: expected a number, found true"),
        ({"limit": True}, ":5: limit: expected a whole number, found true"),
        ({"gate": 5}, ":5: gate: expected the path of a policy, or a mapping of its keys"),
        ({"benchmarks": part(qa=False)}, ":5: benchmarks.capability.qa: expected a path, or true"),
        ({"budget": {"call": 1}}, ":6: budget.call: unknown key; known: calls, month, tokens"),
        ({"budget": {"month": {"call": 1}}}, ":7: budget.month.call: unknown key; known: calls, m"),
        ({"budget": {"month": {"money": 0}}}, ":7: budget.month.money: "),
        ({"alarms": "all"}, ":5: alarms: "),
        ({"alarms": "suite", "margin": 1.0}, ":5: alarms: only with judging: sequential"),
        ({"target": "all"}, ":5: target: "),
        ({"target": "similar", "margin": 1.0}, ":5: target: only with judging: sequential"),
        ({"retention": {"keep": 0}}, ":6: retention.keep: "),
        ({"gate": {"checks": []}}, ":6: gate.checks: "),
        ({"gate": {"checks": [{"benchmark": "x", "figure": "y"}]}}, ":7: gate.checks.0.benchmark"),
        ({"gate": "none.yaml"}, "suite.yaml:5: gate: "),
        ({"gate": "none.yaml"}, "none.yaml: cannot read it"),
        (gate("foo.bar"), ":8: gate.checks.0.figure: unknown figure of capability 'foo.bar'; "),
        ({"seed": -1}, ":5: seed: "),
        (hook(sceret="x"), ":9: notify.team.sceret: unknown key; known: kinds, "),
        (hook(kinds=["done"]), ":10: notify.team.kinds.0: "),
        (hook(secret="abc"), ":7: notify.team.secret: expected env:NAME or file:PATH, not the "),
        (hook(secret=""), ":6: notify.team: the shape json needs a value for secret"),
        (hook(url="ftp://host"), ":6: notify.team: expected a url with https or http"),
        (hook(url="http://a:b@host"), ":6: notify.team: a URL with a password is a secret"),
        (hook(shape="slack"), ":6: notify.team: Slack's URL is a secret"),
        (
            hook(shape="email", url="smtp://h"),
            ":6: notify.team: the shape email needs a value for s",
        ),
        (hook(shape="wandb", project="p"), ":6: notify.team: the shape wandb has no url"),
        ({"serve": {"comand": ["x"]}}, ":6: serve.comand: unknown key; known: account, "),
        ({"serve": {"command": ["x", "{pth}"]}}, ":6: serve.command: unknown field {pth}; known: "),
        ({"serve": {"triton": "h:1/{port}"}}, ":6: serve.triton: unknown field {port}; known: "),
        ({"serve": {"slot": "a/b", "command": ["x"]}}, ":6: serve.slot: expected letters"),
        ({"serve": {"slot": "a"}}, ":5: serve: give exactly one of command, triton, "),
        ({"serve": {"triton": "h:1/m", "health": "/"}}, ":5: serve: health is not for triton"),
        # Behind a port it would name another host.
        ({"serve": {"pod": {}, "health": "@evil.test/"}}, ":7: serve.health: expected a path"),
        ({"benchmarks": part(captioner="tgi:{endpoint}")}, "unknown field {endpoint}"),
    ],
)
def test_an_error_names_file_line_and_field(folder: Path, more: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read(folder, **more)
    assert told in str(caught.value)


def test_an_error_in_the_file_of_a_gate_names_both(folder: Path) -> None:
    tiny.text(folder / "gate.yaml", yaml.safe_dump(gate("foo.bar")["gate"]))
    with pytest.raises(InvalidInput, match=r"suite.yaml:5: gate: gate.yaml: checks.0.figure: unk"):
        read(folder, gate="gate.yaml")


@pytest.mark.parametrize("figure", ["average.f1", "tasks.*.f1", "*", "tasks.scene.*"])
def test_figures_that_a_report_may_have(folder: Path, figure: str) -> None:
    assert read(folder, **gate(figure)).values["policy"]["checks"][0]["figure"] == figure


def test_models_of_an_installation_are_named(folder: Path) -> None:
    suite = read_suite(written(folder, benchmarks=part(judge="stub-7b")), installed=True)
    assert suite.values["run"]["benchmarks"]["capability"]["judge"] == "stub-7b"


def test_an_address_of_the_checkpoint_is_not_known_yet(folder: Path) -> None:
    read(folder, benchmarks=part(captioner="chat:{source}#{name}"))


def test_a_version_is_of_what_decides_a_result(folder: Path) -> None:
    first = read(folder)
    for same in (
        {"priority": "high"},
        {"budget": {"calls": 5}},
        {"budget": {"month": {"calls": 5}}},
        {"retention": {"keep": 2}},
        {"timeout": 60},
        {"concurrency": 3},
        {"baseline": "previous"},
        {"target": "these"},
        {"seed": 0},
        hook(),
        {"benchmarks": part(data=str(folder / "data"))},
    ):
        assert read(folder, **same).version == first.version, same
    others = [
        {"seed": 1},
        {"margin": 1.0},
        {"margin": 1.0, "judging": "sequential"},
        {"margin": 1.0, "judging": "sequential", "alarms": "suite"},
        {"margin": 1.0, "judging": "sequential", "target": "similar"},
        {"baseline": "best"},
        {"benchmarks": part(judge="replay:captions")},
        {"benchmarks": part(captions="x")},
        {"benchmarks": part(set={"reply_reading": "strict"})},
        {"gate": {"checks": [{"benchmark": "capability", "figure": "average.f1"}]}},
    ]
    versions = {read(folder, **other).version for other in others}
    assert len(versions | {first.version}) == len(others) + 1
    prompts = ROOT / "src" / "caliper" / "benchmarks" / "capability" / "prompts"
    shutil.copytree(prompts, folder / "pack" / "capability" / "prompts")
    ours = read(folder, pack="pack").version
    with (folder / "pack" / "capability" / "prompts" / "OCR.yaml").open("a") as template:
        template.write("\n# another\n")
    assert read(folder, pack="pack").version == ours
    shutil.copy(prompts / "OCR.yaml", folder / "pack" / "capability" / "prompts" / "more.yaml")
    assert read(folder, pack="pack").version != ours
    tiny.write_scenes(folder, 3)
    assert read(folder).version != first.version


def test_what_serves_a_checkpoint_decides_the_version_and_its_limits_do_not(folder: Path) -> None:
    captioned = part(captioner="tgi:{endpoint}#{model}@{revision}")

    def version(**serve: Any) -> str:
        return read(folder, benchmarks=captioned, serve={"command": ["x"], **serve}).version

    limits = {"slot": "b", "start": 5, "use": 6, "silence": 7}
    assert version() == version(url="http://127.0.0.1:{port}", **limits)
    assert len({version(), version(command=["x", "--half"]), version(model="m")}) == 3
    served = read(folder, benchmarks=captioned, serve={"command": ["x", '{"image": 1}']})
    assert Suite.from_json(served.to_json()) == served
    endpoint = CheckpointEndpoint("http://127.0.0.1:9", "m")
    run = suite_run(served, checkpoint(1), endpoint).benchmarks["capability"]
    assert run.captioner == "tgi:http://127.0.0.1:9#m@rev1"


def test_a_suite_is_read_as_it_was_stored(folder: Path) -> None:
    gate = {"checks": [{"benchmark": "capability", "figure": "average.f1"}]}
    suite = read(folder, gate=gate, margin=2.0, retention={"keep": 3})
    assert Suite.from_json(suite.to_json()) == suite
    assert suite_policy(suite) == Policy((Check("capability", "average.f1", max_drop=2.0),))
    assert suite_policy(read(folder, margin=2.0)) is None


def test_the_captions_of_a_checkpoint(folder: Path) -> None:
    path = folder / "step-1"
    delivered = checkpoint(1, source=str(path))
    with pytest.raises(InvalidInput, match="no captions: expected capability or "):
        suite_run(read(folder), delivered)
    tiny.text(path / "scene.jsonl", "")
    assert suite_run(read(folder), delivered).benchmarks["capability"].captions == path
    tiny.text(path / "capability" / "scene.jsonl", "")
    run = suite_run(read(folder, budget={"calls": 7}), delivered)
    assert run.benchmarks["capability"].captions == path / "capability"
    assert (run.name, run.max_calls) == ("step-1", 7)
    named = read(folder, benchmarks=part(captions="scene.jsonl"))
    assert suite_run(named, delivered).benchmarks["capability"].captions == path / "scene.jsonl"
    captioner = read(folder, benchmarks=part(captioner="tgi:http://h#{name}@{revision}"))
    parts = suite_run(captioner, checkpoint(1, source="hf://x")).benchmarks
    assert parts["capability"].captioner == "tgi:http://h#step-1@rev1"
    # As somebody may apply it who does without the command: no width fills the memory.
    wide = "tgi:http://h#{name:>999999999999999}"
    run = {**captioner.values["run"], "benchmarks": part(data="d", captioner=wide)}
    parts = suite_run(replace(captioner, values={**captioner.values, "run": run}), checkpoint(1))
    assert parts.benchmarks["capability"].captioner == wide


def test_a_judge_without_a_revision_is_named(folder: Path) -> None:
    for judge, told in (
        ("lexical", []),
        ("tgi:http://h#m@r", []),
        ("chat:http://h#m@r", []),
        ("chat:http://h#m", ["capability: chat:http://h#m"]),
        ("tgi:http://h#m", ["capability: tgi:http://h#m"]),
        ("triton:h:1/m", ["capability: triton:h:1/m"]),
        ("replay:captions", []),
    ):
        assert without_revision(read(folder, benchmarks=part(judge=judge))) == told


def test_runs_that_a_suite_does_not_keep() -> None:
    entries = [
        CheckpointEntry("s", "v", checkpoint(step), "t", "t", run=f"run-{step}")
        for step in range(5)
    ]
    closed = [
        CheckpointEntry.from_json({**entry.to_json(), "state": "passed"}) for entry in entries
    ]

    def outdated(keep: int | None, baseline: str = "previous") -> list[str]:
        suite = Suite("s", "v", Baseline.parse(baseline), {}, keep=keep)
        return outdated_runs(suite, closed)

    assert outdated(None) == []
    assert outdated(2) == ["run-0", "run-1", "run-2"]
    assert outdated(2, "pinned:rev1") == ["run-0", "run-2"]
    assert outdated(9) == []
    # Those of an earlier version make room.
    closed[:3] = [replace(each, version="u", run=f"old-{each.run}") for each in closed[:3]]
    assert outdated(3) == ["old-run-0", "old-run-1"]
    assert outdated(2) == [f"old-run-{step}" for step in range(3)]


def test_secrets_are_read_when_they_are_needed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = read(folder, **hook(url="file:url", secret="env:HOOK"))
    assert suite.values["notify"]["team"]["url"] == f"file:{folder / 'url'}"
    for name, value in (("HOOK", "s"), ("OTHER", "")):
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInput, match=r"notify\.team\.url: cannot read"):
        check_targets(suite)
    tiny.text(folder / "url", "http://127.0.0.1/\n")
    check_targets(suite)
    assert referenced("file:" + str(folder / "url"), "url") == "http://127.0.0.1/"
    tracker = {"notify": {"t": {"shape": "mlflow", "project": "p"}}}
    with pytest.raises(InvalidInput, match="shape: needs mlflow: pip install"):
        check_targets(read(folder, **tracker))
    with pytest.raises(InvalidInput, match="x: OTHER is empty or not set"):
        referenced("env:OTHER", "x")


def test_the_targets_of_the_documentation_are_read(folder: Path) -> None:
    page = (ROOT / "docs" / "continuous.md").read_text("utf-8")
    (block,) = (each for each in page.split("```yaml\n")[1:] if each.startswith("notify:"))
    notify = yaml.safe_load(block.partition("```")[0])["notify"]
    targets = notice_targets(read(folder, notify=notify), SystemClock())
    assert {name: type(each).__name__ for name, each in targets.items()} == {
        "ci": "Webhook",
        "chat": "Webhook",
        "mail": "Mailbox",
        "wb": "WandbTracker",
    }
    assert targets["ci"].kinds == {NoticeKind.REGRESSED, NoticeKind.FAILED}
