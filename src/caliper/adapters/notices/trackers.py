"""Trackers of experiments: figures are put at the checkpoint's own training step, however late.

One run of the tracker holds a version of a suite.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from caliper.adapters.tracker_libraries import (
    STEP,
    experiment_id,
    library,
    metric_name,
    start_run,
    tagged_run,
)
from caliper.core.errors import InvalidInput
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice

_SUITE = "caliper_suite"
_SERVER = "MLFLOW_TRACKING_URI"
_CREDENTIALS = tuple(
    f"MLFLOW_TRACKING_{name}" for name in ("TOKEN", "USERNAME", "PASSWORD", "AUTH")
)
WITH_FIGURES = frozenset({NoticeKind.DECIDED, NoticeKind.PASSED, NoticeKind.REGRESSED})


@dataclass(frozen=True, slots=True)
class WandbTracker:
    """ports.notices.NoticeTarget for Weights & Biases. Its own step only grows, so the figures are
    drawn over a metric that holds the training step.
    """

    kinds: Collection[NoticeKind]
    project: str

    async def deliver(self, notice: Notice) -> None:
        """Log the figures; nothing without a training step."""
        await _in_thread("wandb", notice, self._log)

    def _log(self, wandb: Any, notice: Notice) -> None:
        name = _run_name(notice)
        run = start_run(wandb, name, project=self.project, name=name)
        try:
            figures = {f"caliper/{key}": value for key, value in _figures(notice).items()}
            run.log({STEP: notice.step, **figures})
        finally:
            run.finish()


@dataclass(frozen=True, slots=True)
class MlflowTracker:
    """ports.notices.NoticeTarget for MLflow. An empty `url` leaves the server to its settings;
    credentials in the environment go to no other.
    """

    kinds: Collection[NoticeKind]
    project: str
    url: Callable[[], str]

    async def deliver(self, notice: Notice) -> None:
        """Log the figures; nothing without a training step."""
        await _in_thread("mlflow", notice, self._log)

    def _log(self, mlflow: Any, notice: Notice) -> None:
        url = self.url()
        own = os.environ.get(_SERVER, "").rstrip("/")
        # The suite may be somebody else's.
        if url and url.rstrip("/") != own and any(map(os.environ.get, _CREDENTIALS)):
            message = f"credentials of MLflow go only to {_SERVER}: set it to this server"
            raise InvalidInput(message, field="url")
        client = mlflow.MlflowClient(tracking_uri=url or None)
        experiment = experiment_id(client, self.project)
        name = _run_name(notice)
        run = tagged_run(client, experiment, _SUITE, name)
        if run is None:
            run = client.create_run(experiment, tags={_SUITE: name}, run_name=name)
        for key, value in _figures(notice).items():
            client.log_metric(run.info.run_id, key, value, step=notice.step)


async def _in_thread(name: str, notice: Notice, log: Callable[[Any, Notice], None]) -> None:
    """Call `log` with the library of that name. Raises what `library` raises."""
    if notice.step is None or not notice.figures:
        return

    def work() -> None:
        with library(name) as imported:
            log(imported, notice)

    await asyncio.to_thread(work)


def _run_name(notice: Notice) -> str:
    return f"caliper-{notice.suite}-{notice.version}"


def _figures(notice: Notice) -> dict[str, float]:
    return {metric_name(figure): figure.value for figure in notice.figures}
