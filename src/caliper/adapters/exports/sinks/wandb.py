"""Runs of Weights & Biases: figures over the training step, settings, and report files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

from caliper.adapters.exports.sinks.tracked import (
    files_of,
    mark_of,
    metrics_of,
    run_name,
    setup_of,
    standing_of,
)
from caliper.adapters.tracking import STEP, define_steps, library
from caliper.ports.sinks import Results

_MARK = "caliper_mark"
_LONGEST_TAG = 64


@dataclass(frozen=True, slots=True)
class WandbSink:
    """ports.sinks.Sink for a project of Weights & Biases: [ENTITY/]PROJECT, by default the
    library's own.
    """

    project: str

    def write(self, results: Results) -> str:
        with library("wandb") as wandb:
            return self._log(wandb, results)

    def _log(self, wandb: Any, results: Results) -> str:
        entity, _, project = self.project.rpartition("/")
        name = run_name(results)
        run = wandb.init(
            entity=entity or None,
            project=project or None,
            id=name,
            name=results.report.name,
            group=results.suite or None,
            job_type="evaluation",
            tags=[tag[:_LONGEST_TAG] for tag in results.tags],
            resume="allow",
            # A training script may have a run of its own in this process.
            reinit="create_new",
            settings=_settings(wandb),
        )
        try:
            run.config.update(setup_of(results) | standing_of(results), allow_val_change=True)
            self._log_figures(run, results)
            artifact = wandb.Artifact(name, type="evaluation")
            for file, data in files_of(results):
                with artifact.new_file(file, mode="wb") as out:
                    out.write(data)
            run.log_artifact(artifact)
        except BaseException:
            run.finish(exit_code=1)
            raise
        run.finish()
        if not run.offline:
            return str(run.url)
        own = Path(run.dir).parent
        _remove_earlier(own, name)
        return str(own)

    def _log_figures(self, run: Any, results: Results) -> None:
        define_steps(run)
        if run.summary.get(_MARK) == mark_of(results):
            return
        figures = {f"caliper/{key}": value for key, value in metrics_of(results).items()}
        run.log(figures if results.step is None else {STEP: results.step, **figures})
        run.summary[_MARK] = mark_of(results)


def _remove_earlier(own: Path, name: str) -> None:
    """Remove files of the same run that were not sent: `wandb sync` would send both."""
    for other in own.parent.glob(f"offline-run-*-{name}*"):
        if other != own and not any(other.glob("*.synced")):
            rmtree(other, ignore_errors=True)


def _settings(wandb: Any) -> Any:
    """Nothing of this machine, its code or its output belongs to the results."""
    return wandb.Settings(
        silent=True,
        # Without a key it asks for one in a terminal, where perhaps nobody is.
        login_timeout=30,
        console="off",
        save_code=False,
        disable_code=True,
        disable_git=True,
        disable_job_creation=True,
        x_disable_meta=True,
        x_disable_stats=True,
        x_disable_machine_info=True,
        x_save_requirements=False,
    )
