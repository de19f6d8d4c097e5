"""`caliper export`, and the key `export` of run files and suites."""

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes.command import Command
from tests.fakes.suite_folders import deliver, suite

from caliper.adapters.exports.parquet import read_rows
from caliper.core.errors import InvalidInput
from caliper.local.suite_config import read_suite


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text("utf-8").splitlines()))


def test_a_run_is_exported_when_it_ends_and_by_the_command(caliper: Command, config: Path) -> None:
    values = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump({**values, "export": ["tensorboard:tb", "csv:own.csv"]}))
    ended = caliper("evaluate", "--config", config, "--quiet", "--out", "runs/one", code=0)
    told = " ".join(ended.err.split())
    assert "not exported to tensorboard: --step: the training step is unknown; retry with" in told
    own = config.parent / "own.csv"
    written = own.read_bytes()
    assert {row["benchmark"] for row in rows(own)} == {"capability", "captionqa", "comprecap"}
    flags = ("--to", f"csv:{own}", "--to", "tensorboard:tb", "--to", "junit:ci")
    failed = caliper("export", "one", *flags, code=2)
    assert "--step: the training step is unknown" in failed.err
    # The others are written all the same.
    assert failed.out.split() == [
        *("tiny:", "csv", str(own), "tiny:", "junit"),
        f"ci/caliper-{rows(own)[0]['run']}.xml",
    ]
    assert own.read_bytes() == written
    caliper("export", "one", *flags, "--step", "20", "--quiet", code=0)
    assert {row["step"] for row in rows(own)} == {"20"}
    # It is no part of what is measured: the run is the same without it.
    config.write_text(yaml.safe_dump(values))
    again = caliper("evaluate", "--config", config, "--json", "--out", "runs/one", code=0)
    assert again.told["already_ended"]
    data = (caliper.folder / "runs" / "one" / "verdicts.parquet").read_bytes()
    assert {row.benchmark for row in read_rows(data)} == set(again.told["benchmarks"])


def test_a_suite_exports_each_checkpoint_with_its_step(caliper: Command) -> None:
    folder = caliper.folder
    suite(folder, export=["csv:figures.csv", "mlflow:none"])
    deliver(folder, 100, "careful")
    run = ("suite", "run", "suite.yaml", "--watch", "checkpoints", "--once")
    ended = caliper(*run, code=0)
    told = " ".join((ended.out + ended.err).split())
    assert "not exported to mlflow" in told
    exported = rows(folder / "figures.csv")
    (entry,) = caliper("checkpoint", "list", "--json", code=0).told
    revision = entry["checkpoint"]["revision"]
    assert entry["state"] == "evaluated"
    assert {(row["step"], row["revision"]) for row in exported} == {("100", revision)}
    # The command finds what the suite knows.
    name = next(folder.glob("runs/step-100*")).name
    caliper("export", name, "--to", "csv:again.csv", code=0)
    assert (folder / "again.csv").read_bytes() == (folder / "figures.csv").read_bytes()
    # It decides nothing, and installations do without it.
    before = read_suite(folder / "suite.yaml").version
    suite(folder)
    assert read_suite(folder / "suite.yaml").version == before
    suite(folder, export=["csv:figures.csv"])
    refused = caliper("suite", "apply", "suite.yaml", "--server", "127.0.0.1:1", code=2)
    assert "export: an installation does not export" in " ".join(refused.err.split())


@pytest.mark.parametrize(
    ("export", "message"),
    [
        (["csv:a", "cvs:b"], r"suite.yaml:6: export: unknown sink 'cvs'; known: csv, "),
        ("csv:a", r"suite.yaml:6: export: "),
    ],
)
def test_a_sink_that_does_not_exist(tmp_path: Path, export: Any, message: str) -> None:
    text = "name: nightly\nbenchmarks:\n  capability:\n    data: .\nmargin: 1.0\nexport:"
    file = tmp_path / "suite.yaml"
    file.write_text(
        f"{text}\n- {export[0]}\n- {export[1]}\n"
        if isinstance(export, list)
        else f"{text} {export}\n"
    )
    with pytest.raises(InvalidInput, match=message):
        read_suite(file)
