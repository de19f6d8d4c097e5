"""Trackers of experiments: figures are put at the checkpoint's own training step, however late.

One run of the tracker holds a version of a suite. The libraries are no part of Caliper, and read
their own settings and credentials.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from caliper.core.errors import BackendUnavailable, CaliperError, InvalidInput
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice

WITH_FIGURES = frozenset({NoticeKind.DECIDED, NoticeKind.PASSED, NoticeKind.REGRESSED})
_STEP = "caliper/step"


def check_library(name: str) -> None:
    """Raise InvalidInput for a library that is not installed."""
    if find_spec(name) is None:
        raise InvalidInput(f"{name} is not installed here: pip install {name}", field="shape")


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
        run = wandb.init(project=self.project, id=name, name=name, resume="allow")
        try:
            run.define_metric(_STEP)
            run.define_metric("caliper/*", step_metric=_STEP)
            figures = {f"caliper/{key}": value for key, value in _figures(notice).items()}
            run.log({_STEP: notice.step, **figures})
        finally:
            run.finish()


@dataclass(frozen=True, slots=True)
class MlflowTracker:
    """ports.notices.NoticeTarget for MLflow. An empty `url` leaves the server to its settings."""

    kinds: Collection[NoticeKind]
    project: str
    url: Callable[[], str]

    async def deliver(self, notice: Notice) -> None:
        """Log the figures; nothing without a training step."""
        await _in_thread("mlflow", notice, self._log)

    def _log(self, mlflow: Any, notice: Notice) -> None:
        client = mlflow.MlflowClient(tracking_uri=self.url() or None)
        found = client.get_experiment_by_name(self.project)
        experiment = found.experiment_id if found else client.create_experiment(self.project)
        name = _run_name(notice)
        wanted = f"tags.caliper_suite = '{name}'"
        runs = client.search_runs([experiment], filter_string=wanted, max_results=1)
        tags = {"caliper_suite": name}
        run = runs[0] if runs else client.create_run(experiment, tags=tags, run_name=name)
        for key, value in _figures(notice).items():
            client.log_metric(run.info.run_id, key, value, step=notice.step)


async def _in_thread(library: str, notice: Notice, log: Callable[[Any, Notice], None]) -> None:
    """Call `log` with the library. Whatever it raises means that the figures were not taken."""
    if notice.step is None or not notice.figures:
        return
    check_library(library)

    def work() -> None:
        log(import_module(library), notice)

    try:
        await asyncio.to_thread(work)
    except CaliperError:
        raise
    except Exception as error:
        raise BackendUnavailable(f"{library}: {type(error).__name__}") from error


def _run_name(notice: Notice) -> str:
    return f"caliper-{notice.suite}-{notice.version}"


def _figures(notice: Notice) -> dict[str, float]:
    """The figures by names that both trackers take."""
    names = ((f"{one.benchmark}.{one.path}", one.value) for one in notice.figures)
    return {re.sub(r"[^A-Za-z0-9_./ -]", "_", name): value for name, value in names}
