"""Errors in values of a run name the run file and the field, or the flag."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes.command import Command

CAPTIONQA = (
    *("captionqa", "--data", "captionqa.json", "--captions", "captions/captionqa.json"),
    *("--out", "run"),
)


def written(config: Path, **more: Any) -> Path:
    values = yaml.safe_load(config.read_text())
    values["benchmarks"]["captionqa"] |= more
    wrong = config.with_name("wrong.yaml")
    wrong.write_text(yaml.safe_dump(values, sort_keys=False))
    return wrong


@pytest.mark.parametrize("command", [("evaluate", "--config"), ("plan", "--config"), ("validate",)])
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"set": {"readng": 1}}, "set: unknown setting of captionqa 'readng'; known: "),
        ({"set": {"shuffle": "x"}}, "set: unknown value of shuffle 'x'; known: "),
        ({"prompt": "longg"}, "prompt: unknown caption prompt of captionqa 'longg'; known: "),
        ({"judge": "lexical"}, "judge: captionqa has no judge; it has a reader"),
        ({"reader": "lexcal"}, "reader: unknown model 'lexcal'; known: "),
        ({"reader": "chat:foo"}, "reader: the URL must start with http:// or https://"),
        (
            {"captions": None, "captioner": "lexical"},
            "captioner: lexical cannot look at pictures; a captioner is ",
        ),
    ],
)
def test_a_value_of_a_run_file(
    caliper: Command, config: Path, command: tuple[str, ...], more: dict[str, Any], told: str
) -> None:
    file = written(config, **more)
    key = next(key for key, value in more.items() if value is not None)
    lines = file.read_text().splitlines()
    below = lines.index("  captionqa:")
    line = next(n for n, text in enumerate(lines) if n > below and text.startswith(f"    {key}:"))
    ended = caliper(*command, "wrong.yaml", code=2)
    place = f"wrong.yaml:{line + 1}: benchmarks.captionqa."
    assert f"{place}{told}" in " ".join(ended.err.split())


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--set", "readng=1"), "--set: unknown setting 'readng'; known: "),
        (("--set", "captionqa.readng=1"), "--set: unknown setting of captionqa 'readng'; "),
        (("--set", "shuffle=x"), "--set: unknown value of shuffle 'x'; known: "),
        (("--repeats", "0"), "--repeats: expected at least 1, found 0"),
        (("--limit", "0"), "--limit: expected at least 1, found 0"),
        (("--caption-tokens", "0"), "--caption-tokens: expected at least 1, found 0"),
    ],
)
def test_a_flag_beside_a_run_file_or_without_one(
    caliper: Command, config: Path, wrong: tuple[str, str], told: str
) -> None:
    for of in (CAPTIONQA, ("--config", config, "--out", "run")):
        ended = caliper("evaluate", *of, *wrong, code=2)
        assert f"Error: {told}" in " ".join(ended.err.split())


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--prompt", "longg"), "--prompt: unknown caption prompt of captionqa 'longg'; known: "),
        (("--reader", "lexcal"), "--reader: unknown model 'lexcal'; known: "),
        (("--reader", "chat:foo"), "--reader: the URL must start with "),
    ],
)
def test_a_flag_of_one_benchmark(
    caliper: Command, config: Path, wrong: tuple[str, str], told: str
) -> None:
    ended = caliper("evaluate", *CAPTIONQA, *wrong, code=2)
    assert f"Error: {told}" in " ".join(ended.err.split())


@pytest.mark.parametrize("command", [("evaluate", "--config"), ("validate",)])
@pytest.mark.parametrize(("key", "spec"), [("tagger", "foo"), ("embedder", "nosuch:x")])
def test_a_language_model_that_caliper_lacks(
    caliper: Command, config: Path, command: tuple[str, ...], key: str, spec: str
) -> None:
    held = yaml.safe_load(config.read_text())
    held["benchmarks"]["comprecap"][key] = spec
    (caliper.folder / "wrong.yaml").write_text(yaml.safe_dump(held))
    said = " ".join(caliper(*command, "wrong.yaml", code=2).err.split())
    assert f"benchmarks.comprecap.{key}: unknown {key} '{spec}'; known: " in said


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--limit", "x"), "Invalid value for '--limit': expected a whole number, found 'x'"),
        (("--coverage-floor", "x"), "'--coverage-floor': expected a number, found 'x'"),
        (("--priority", "urgent"), "'--priority': 'urgent' is not one of 'low', 'normal', 'high'."),
    ],
)
def test_a_flag_of_another_type(caliper: Command, wrong: tuple[str, str], told: str) -> None:
    ended = caliper("evaluate", *CAPTIONQA, *wrong, code=2)
    assert told in " ".join(ended.err.replace("│", "").split())
