"""What a command imports before it begins, and how it ends while it does."""

import signal
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from tests.fakes import tiny
from tests.fakes.command import Command
from tests.fakes.imported_modules import COMMAND_LINE, imported, process

from caliper.cli.app import app
from caliper.cli.commands import COMMANDS

OF_MODELS = frozenset({"aiohttp", "av", "grpc"})
RULES = "caliper.adapters.models.lexical"
OF_SERVICES = frozenset({"google.protobuf", "grpc", "kafka", "minio", "prometheus_client"})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs one and two, of which two has other captions."""
    folder = tmp_path_factory.mktemp("start")
    config = tiny.write_all(folder)
    caliper = Command(folder)
    for name in ("one", "two"):
        caliper("evaluate", "--config", config, "--name", name, "--out", f"runs/{name}", code=0)
    checks = [{"benchmark": "capability", "figure": "average.f1", "max_drop": 100.0}]
    (folder / "policy.yaml").write_text(yaml.safe_dump({"checks": checks}))
    return folder


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("compare", "one", "two"), OF_MODELS | {"pyarrow", "cryptography", RULES}),
        (("leaderboard", "one", "two"), OF_MODELS | {"pyarrow", "cryptography"}),
        (("validate", "runs/one"), OF_MODELS | {"cryptography"}),
        (("plan", "--config", "all.yaml"), OF_MODELS | {"cryptography", RULES}),
        (("report", "one"), OF_MODELS | {"cryptography"}),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_commands_that_call_no_model_import_nothing_for_it(
    runs: Path, arguments: tuple[str, ...], absent: frozenset[str]
) -> None:
    assert not imported(runs, *arguments) & absent


def test_a_gate_imports_nothing_for_models(runs: Path) -> None:
    found = imported(runs, "gate", "one", "two", "--policy", "policy.yaml", code=3)
    assert not found & (OF_MODELS | {"pyarrow", "cryptography"})


def test_a_run_in_one_process_imports_nothing_for_services(runs: Path) -> None:
    found = imported(runs, "evaluate", "--config", "all.yaml", "--quiet", "--out", "runs/three")
    assert "caliper.wiring.stages" in found
    assert not found & OF_SERVICES
    assert not {name for name in found if name.startswith("caliper.building")}


def test_the_rules_are_imported_for_a_model_that_names_them(runs: Path) -> None:
    captions = ("--data", "captionqa.json", "--captions", "captions/captionqa.json")
    assert RULES in imported(runs, "plan", "captionqa", *captions)


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    root: Any = typer.main.get_command(app)
    own = {name: command.help.split("\n\n")[0] for name, command in root.commands.items()}
    assert {name: line for name, (_, line) in COMMANDS.items()} == {
        name: " ".join(paragraph.split()) for name, paragraph in own.items()
    }


def test_a_mistyped_command_is_told_its_neighbour(caliper: Command) -> None:
    told = caliper("compair", code=2).err
    assert "No such command 'compair'. Did you mean 'compare'?" in " ".join(told.split())


def test_the_shell_completes_options_of_a_command(tmp_path: Path) -> None:
    asked = {
        "_CALIPER_COMPLETE": "complete_bash",
        "COMP_WORDS": "caliper compare --fl",
        "COMP_CWORD": "2",
    }
    assert Command(tmp_path, asked)(code=0).out.split() == ["--flips"]


@pytest.mark.parametrize(
    ("library", "arguments"),
    [
        ("typing", ("--version",)),
        ("typer", ("--version",)),
        ("uvloop", ("evaluate", "--help")),
    ],
    ids=["of-the-package", "of-the-top-level", "of-a-command"],
)
def test_an_interrupt_during_the_imports_leaves_no_traceback(
    tmp_path: Path, library: str, arguments: tuple[str, ...]
) -> None:
    # Its import says that it has begun, and then waits for input that never comes.
    text = 'import sys\nprint("importing", flush=True)\nsys.stdin.read()\n'
    (tmp_path / f"{library}.py").write_text(text)
    words = ("-c", COMMAND_LINE, *arguments)
    with process(tmp_path, *words, path=str(tmp_path)) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "importing\n"
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=90)
    assert started.returncode == 130
    assert err == "Interrupted. Rerun the same command to resume.\n"
