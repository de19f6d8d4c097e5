"""Shared parts of experiment trackers: their libraries, which are not part of Caliper and read
their own settings and credentials, their runs, and the names of figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from caliper.core.checkpoints import EntryFigure
from caliper.core.errors import BackendUnavailable, CaliperError
from caliper.lazy import check_library

STEP = "caliper/step"
"""The metric that holds the training step in W&B, whose own step only grows: it drops late
values.
"""


@contextmanager
def library(name: str) -> Iterator[Any]:
    """The library of that name. Whatever it raises in the block becomes BackendUnavailable without
    its text, which may hold credentials. Raises InvalidInput if it is not installed.
    """
    check_library(name)
    try:
        yield import_module(name)
    except CaliperError:
        raise
    except Exception as error:
        raise BackendUnavailable(f"{name}: {type(error).__name__}") from error


def start_run(wandb: Any, run_id: str, **options: Any) -> Any:
    """A run of W&B with this id, or the one that there is. Its figures are drawn over STEP."""
    run = wandb.init(
        id=run_id,
        resume="allow",
        # A training script may have a run of its own in this process.
        reinit="create_new",
        settings=_settings(wandb),
        **options,
    )
    run.define_metric(STEP)
    run.define_metric("caliper/*", step_metric=STEP)
    return run


def _settings(wandb: Any) -> Any:
    """Settings that keep this machine, its code and its output out of the results."""
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


def experiment_id(client: Any, name: str) -> str:
    """The experiment of that name in MLflow, created if it is missing."""
    experiment = client.get_experiment_by_name(name)
    return str(experiment.experiment_id if experiment else client.create_experiment(name))


def tagged_run(client: Any, experiment: str, tag: str, value: str) -> Any | None:
    """The run of MLflow whose tag has this value; None if there is none."""
    query = f"tags.`{tag}` = '{value}'"
    runs = client.search_runs([experiment], filter_string=query, max_results=1)
    return runs[0] if runs else None


def metric_name(figure: EntryFigure) -> str:
    """The name of a figure, as all trackers take it."""
    return re.sub(r"[^A-Za-z0-9_./ -]", "_", f"{figure.benchmark}.{figure.path}")
