"""What works without the libraries of the extras, and what names the extra that it needs."""

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, Ended
from tests.fakes.lean import run_lean, run_lean_python
from tests.fakes.sources import ROOT

from caliper.cli.commands import COMMANDS
from caliper.lazy import EXTRAS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LEXICAL = ("evaluate", "captionqa", "--data", "captionqa.json", "--json", "--media", ".")
REPLAYED = ("evaluate", "--config", "all.yaml", "--json")
SCENES = ("--data", "anno.json", "--captions", "captions/comprecap.json")
CAPTIONS = {"a": "A red car.", "b": "A blue car, signed by Bob.", "c": "A car."}
CHECKS = [{"benchmark": "capability", "figure": "average.f1", "max_drop": 100.0}]
OF_BASE = (
    *(
        (*LEXICAL, "--captions", f"captions/{name}.json", "--name", name, "--out", f"runs/{name}")
        for name in CAPTIONS
    ),
    *((*REPLAYED, "--name", name, "--out", f"runs/{name}") for name in ("one", "two")),
    ("plan", "--config", "all.yaml", "--json"),
    ("validate", "all.yaml"),
    ("report", "one", "--json"),
    ("compare", "one", "two", "--json"),
    ("leaderboard", "one", "two", "--json"),
    ("gate", "one", "two", "--policy", "policy.yaml", "--json"),
)
_IMPORT = re.compile(r"^ *(?:import|from) (\w+)", re.MULTILINE)
NEEDY = {
    "analysis": ("correlation", *CAPTIONS, "--people", "people.csv"),
    "parquet": ("validate", "rows.parquet"),
    "serve": ("watch", "0123456789abcdef", "--server", "127.0.0.1:1"),
    "wandb": ("export", "a", "--to", "wandb"),
    "mlflow": ("export", "a", "--to", "mlflow"),
    "spacy": ("evaluate", "comprecap", *SCENES, "--tagger", "spacy:en"),
    "minilm": ("evaluate", "comprecap", *SCENES, "--embedder", "minilm"),
}


def needs(extra: str) -> re.Pattern[str]:
    return re.compile(rf"Error: (\S+: )?needs \w+: pip install 'caliper-captions\[{extra}\]'")


def write_inputs(folder: Path) -> Path:
    tiny.write_all(folder)
    for name, text in CAPTIONS.items():
        tiny.value(folder / "captions" / f"{name}.json", {"nat_1": text, "doc_1": text})
    (folder / "policy.yaml").write_text(yaml.safe_dump({"checks": CHECKS}), "utf-8")
    (folder / "people.csv").write_text("model,score\na,1\nb,2\nc,3\n", "utf-8")
    (folder / "rows.parquet").write_bytes(b"PAR1")
    return folder


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[tuple[str, ...], Ended]]:
    """The commands without extras, in one process, and their folder."""
    folder = write_inputs(tmp_path_factory.mktemp("lean"))
    commands = [*OF_BASE, *NEEDY.values(), ("--version",), *((each, "-h") for each in COMMANDS)]
    return folder, dict(zip(commands, run_lean(folder, commands), strict=True))


Lean = tuple[Path, dict[tuple[str, ...], Ended]]


def test_figures_are_those_of_everything_installed(lean: Lean, tmp_path: Path) -> None:
    folder, ended = lean
    caliper = Command(write_inputs(tmp_path))
    for words in OF_BASE:
        expected = caliper(*words)
        assert (ended[words].code, ended[words].out) == (expected.code, expected.out), words
    few, all_files = (
        {str(file.relative_to(root)) for file in root.glob("runs/*/*.*")}
        for root in (folder, tmp_path)
    )
    names = (*CAPTIONS, "one", "two")
    assert all_files - few == {f"runs/{name}/verdicts.parquet" for name in names}


PYTHON = """
import json, caliper
def run(name, **more):
    return caliper.evaluate(benchmarks="all.yaml", name=name, progress=False, **more)
one, two = run("step-1"), run("step-2", seed=7)
print(one.text, two.text, one._repr_html_(), caliper.load(one.id).figures)
print(caliper.plan(benchmarks="all.yaml", name="step-3")._repr_html_())
print(json.dumps(caliper.compare(one, two, anyway=True).to_dict()))
checks = [{"benchmark": "capability", "figure": "average.f1", "max_drop": 100.0}]
print(caliper.gate(one, two, {"checks": checks}, anyway=True)._repr_html_())
print(caliper.leaderboard(one, two, anyway=True).markdown)
print(caliper.trend(one, two, anyway=True)._repr_html_())
"""
VERDICTS = """
try:
    one.verdicts.arrow
except caliper.CaliperError as error:
    print(error)
from caliper.library.run import VerdictTable
for form in (VerdictTable.pandas, VerdictTable.polars):
    try:
        form(VerdictTable(None))
    except caliper.CaliperError as error:
        print(error)
"""


def test_the_python_api_works_and_names_what_it_needs(tmp_path: Path) -> None:
    lean, whole = (write_inputs(tmp_path / name) for name in ("lean", "whole"))
    told = run_lean_python(lean, PYTHON + VERDICTS).splitlines()
    expected = subprocess.run(
        [sys.executable, "-c", PYTHON], cwd=whole, capture_output=True, text=True, check=True
    )
    assert told[:-3] == expected.stdout.splitlines()
    libraries = {"pyarrow": "parquet", "pandas": "pandas", "polars": "polars"}
    for line, (library, extra) in zip(told[-3:], libraries.items(), strict=True):
        assert line.endswith(f"needs {library}: pip install 'caliper-captions[{extra}]'")


def test_help_works(lean: Lean) -> None:
    _, ended = lean
    assert ended["--version",].out.startswith("caliper ")
    for name in COMMANDS:
        assert (ended[name, "-h"].code, ended[name, "-h"].err) == (0, ""), name
    assert "needs grpc: pip install 'caliper-captions[serve]'" in ended["serve", "-h"].out


@pytest.mark.parametrize("extra", NEEDY)
def test_what_needs_an_extra_names_it(lean: Lean, extra: str) -> None:
    ended = lean[1][NEEDY[extra]]
    assert ended.code == 2
    assert needs(extra).search(ended.err), ended.err
    assert "Traceback" not in ended.err


async def test_a_judge_over_http_works_and_a_captioner_needs_media(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 3)
    right = fake.answer('{"score": 1, "reason": "so says the server"}')
    async with ChatServer(otherwise=right) as server:
        part = ("evaluate", "capability", "--data", "data", "--no-anchors", "--name", "x")
        judged = (*part, "--captions", "captions", "--judge", f"tgi:{server.url}", "--json")
        captioned = (*part, "--captioner", f"tgi:{server.url}")
        first, second = await asyncio.to_thread(run_lean, tmp_path, (judged, captioned))
    assert json.loads(first.out)["benchmarks"]["capability"]["average"]["f1"] == 100
    assert second.code == 2
    assert needs("media").search(second.err), second.err


def imports() -> set[str]:
    """The first words of what the wheel imports."""
    texts = (path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    return {name for text in texts for name in _IMPORT.findall(text)}


def names(requirements: list[str]) -> set[str]:
    return {Requirement(each).name.lower().replace("_", "-") for each in requirements}


def test_every_library_is_in_the_base_or_has_an_extra() -> None:
    extras = PROJECT["optional-dependencies"]
    base = names(PROJECT["dependencies"])
    installed = packages_distributions()
    # Not Python's own, and not those of extras that are not installed here.
    for module in (imports() | EXTRAS.keys()) & installed.keys() - {"caliper"}:
        wanted = base if module not in EXTRAS else names(extras[EXTRAS[module]])
        assert names(installed[module]) & wanted, module
