"""Runs of MLflow: figures at the training step, settings, and report files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from caliper.adapters.exports.sinks.tracker_content import (
    files_of,
    mark_of,
    metrics_of,
    setup_of,
    standing_of,
)
from caliper.adapters.tracker_libraries import experiment_id, library, tagged_run
from caliper.ports.sinks import Results

_RUN, _MARK = "caliper.run", "caliper.mark"
_DEFAULT = "caliper"
_METRICS, _PARAMS = 1000, 100
"""The maximum number per request."""


@dataclass(frozen=True, slots=True)
class MlflowSink:
    """ports.sinks.Sink for an experiment of MLflow, by default `caliper`. The library's settings
    say where the server is. The run is found again by a tag.
    """

    experiment: str

    def write(self, results: Results) -> str:
        with library("mlflow") as mlflow:
            return self._log(mlflow, results)

    def _log(self, mlflow: Any, results: Results) -> str:
        client = mlflow.MlflowClient()
        experiment = experiment_id(client, self.experiment or _DEFAULT)
        run = _run_in(client, experiment, results)
        of_run, ended = run.info.run_id, _milliseconds(results)
        if run.data.tags.get(_MARK) != mark_of(results):
            entities, step = mlflow.entities, results.step or 0
            metrics = (
                entities.Metric(name, value, ended, step)
                for name, value in metrics_of(results).items()
            )
            # They cannot change, and follow from the run; of an interrupted export some are known.
            params = (
                entities.Param(name, value)
                for name, value in setup_of(results).items()
                if value and name not in run.data.params
            )
            while batch := list(islice(metrics, _METRICS)):
                client.log_batch(of_run, metrics=batch)
            while batch := list(islice(params, _PARAMS)):
                client.log_batch(of_run, params=batch)
        with TemporaryDirectory(prefix="caliper-export-") as folder:
            for file, data in files_of(results):
                (Path(folder) / file).write_bytes(data)
            client.log_artifacts(of_run, folder)
        # Last, so that an export that was interrupted is made again.
        for name, value in {**_tags(results), _MARK: mark_of(results)}.items():
            client.set_tag(of_run, name, value)
        status = "FAILED" if results.report.partial else "FINISHED"
        client.set_terminated(of_run, status, ended)
        return f"experiment {experiment}, run {of_run}"


def _run_in(client: Any, experiment: str, results: Results) -> Any:
    run = tagged_run(client, experiment, _RUN, results.run)
    if run is not None:
        return run
    start = _milliseconds(results)
    return client.create_run(experiment, start, _tags(results), results.report.name)


def _tags(results: Results) -> Mapping[str, str]:
    return {f"caliper.{name}": value for name, value in standing_of(results).items()}


def _milliseconds(results: Results) -> int:
    """When the run ended: a time of the export would make metrics of a second one different."""
    return round(datetime.fromisoformat(results.ended).timestamp() * 1000) if results.ended else 0
