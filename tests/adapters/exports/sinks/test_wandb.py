"""Runs of W&B, written offline by its library and read back as its own messages."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.results import CAPTION, in_state, results

from caliper.adapters.exports.sinks.wandb import WandbSink
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import wandb
    from tests.fakes import wandb_files
else:
    wandb, wandb_files = lazy_module("wandb"), lazy_module("tests.fakes.wandb_files")


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of W&B's files. Nothing is sent, and no key is needed."""
    for name, value in {"MODE": "offline", "ERROR_REPORTING": "false", "DIR": tmp_path}.items():
        monkeypatch.setenv(f"WANDB_{name}", str(value))
    for name in ("CACHE_DIR", "DATA_DIR", "CONFIG_DIR"):
        monkeypatch.setenv(f"WANDB_{name}", str(tmp_path / "own"))
    yield tmp_path
    wandb.teardown()


def written(folder: Path) -> list[Any]:
    """The records of all files, by run."""
    # The library's process writes what is left when it ends.
    wandb.teardown()
    files = folder.glob("wandb/offline-run-*/run-*.wandb")
    by_run = sorted(files, key=lambda file: file.stem)
    return [record for file in by_run for record in wandb_files.records(file)]


def values(items: Any) -> dict[str, Any]:
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in items}


def test_a_run_has_figures_over_the_training_step(offline: Path) -> None:
    place = WandbSink("team/captions").write(results())
    assert Path(place).is_relative_to(offline)
    found = written(offline)
    (run,) = (each.run for each in found if each.HasField("run"))
    assert (run.run_id, run.project, run.entity) == ("caliper-0123456789abcdef", "captions", "team")
    assert (run.display_name, run.run_group, run.job_type) == (
        *("My checkpoint 7B", "nightly", "evaluation"),
    )
    assert list(run.tags) == ["best"]
    (history,) = (values(each.history.item) for each in found if each.HasField("history"))
    assert history["caliper/step"] == 1200
    assert history["caliper/capability.average.f1"] == 61.5
    assert history["caliper/captionqa.overall.score.low"] == 69.5
    # Drawn over the training step: W&B's own would only grow, and drops what comes late.
    steps = {
        each.metric.glob_name or each.metric.name: each.metric.step_metric
        for each in found
        if each.HasField("metric")
    }
    assert steps["caliper/*"] == "caliper/step"


def test_what_is_exported_again_before_it_is_sent_is_sent_once(offline: Path) -> None:
    for step in (10, 20):
        WandbSink("captions").write(results(step=step))
    WandbSink("captions").write(results(run="b" * 16))
    histories = (each.history for each in written(offline) if each.HasField("history"))
    steps = [values(history.item)["caliper/step"] for history in histories]
    assert steps == [20, 1200]


def test_nothing_but_figures_leaves_unless_it_is_asked_for(offline: Path) -> None:
    WandbSink("captions").write(results())
    wandb.teardown()
    assert not holders(offline)
    WandbSink("captions").write(results(run="b" * 16, with_verdicts=True))
    wandb.teardown()
    assert holders(offline)


def holders(folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if CAPTION in path.read_bytes()]


def test_a_run_of_the_training_script_goes_on(offline: Path) -> None:
    own = wandb.init(project="training")
    WandbSink("captions").write(results())
    assert wandb.run is own
    own.log({"loss": 1.0})
    own.finish()


def test_a_partial_run_is_not_one_that_finished(offline: Path) -> None:
    WandbSink("captions").write(in_state(results(), "cancelled"))
    (code,) = (each.exit.exit_code for each in written(offline) if each.HasField("exit"))
    assert code == 1
