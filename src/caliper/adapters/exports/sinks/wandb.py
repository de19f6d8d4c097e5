"""Runs of Weights & Biases: figures over the training step, settings, and report files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

from caliper.adapters.exports.sinks.tracker_content import (
    files_of,
    mark_of,
    metrics_of,
    run_name,
    setup_of,
    standing_of,
)
from caliper.adapters.tracker_libraries import STEP, library, start_run
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
        run = start_run(
            wandb,
            name,
            entity=entity or None,
            project=project or None,
            name=results.report.name,
            group=results.suite or None,
            job_type="evaluation",
            tags=[tag[:_LONGEST_TAG] for tag in results.tags],
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
        # W&B has no other word for a run that lacks something.
        run.finish(exit_code=int(results.report.partial))
        if not run.offline:
            return str(run.url)
        own = Path(run.dir).parent
        _remove_earlier(own, name)
        return str(own)

    def _log_figures(self, run: Any, results: Results) -> None:
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
