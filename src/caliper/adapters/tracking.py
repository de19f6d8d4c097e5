"""What trackers of experiments have in common: libraries, which are no part of Caliper and read
their own settings and credentials, and the names of figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from caliper.core.checkpoints import EntryFigure
from caliper.core.errors import BackendUnavailable, CaliperError, InvalidInput

STEP = "caliper/step"
"""The metric that holds the training step in W&B, whose own step only grows: it drops what comes
late.
"""


def check_library(name: str, field: str = "") -> None:
    """Raise InvalidInput for a library that is not installed."""
    if find_spec(name) is None:
        message = f"{name} is not installed here: pip install 'caliper-captions[{name}]'"
        raise InvalidInput(message, field=field)


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


def define_steps(run: Any) -> None:
    """Draw the figures of a run of W&B over the metric STEP."""
    run.define_metric(STEP)
    run.define_metric("caliper/*", step_metric=STEP)


def experiment_id(client: Any, name: str) -> str:
    """The experiment of that name in MLflow, which is made if there is none."""
    found = client.get_experiment_by_name(name)
    return str(found.experiment_id if found else client.create_experiment(name))


def metric_name(figure: EntryFigure) -> str:
    """The name of a figure, as all trackers take it."""
    return re.sub(r"[^A-Za-z0-9_./ -]", "_", f"{figure.benchmark}.{figure.path}")
