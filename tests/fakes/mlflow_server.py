"""MLflow's client with a server's memory, as far as runs are written: limits and refusals too.

The library needs an earlier cachetools than the locks have. What it keeps was compared with
mlflow-skinny 3.17.2 on SQLite, by the calls of adapters/exports/sinks/test_mlflow.py.
"""

from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple


class Metric(NamedTuple):
    key: str
    value: float
    timestamp: int
    step: int


class Param(NamedTuple):
    key: str
    value: str


@dataclass
class Run:
    """A run of the server. `files` are its artifacts by name."""

    experiment: str
    tags: dict[str, str]
    name: str
    params: dict[str, str] = field(default_factory=dict)
    history: list[Metric] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    status: str = "RUNNING"
    end: int = 0


class Server:
    """What a server has, and its client."""

    def __init__(self) -> None:
        self.experiments: dict[str, str] = {}
        self.runs: dict[str, Run] = {}
        self.is_failing = False

    @property
    def library(self) -> ModuleType:
        module = ModuleType("mlflow")
        module.__spec__ = ModuleSpec("mlflow", None)
        module.__dict__["MlflowClient"] = lambda: self
        module.__dict__["entities"] = SimpleNamespace(Metric=Metric, Param=Param)
        return module

    def get_experiment_by_name(self, name: str) -> Any:
        found = self.experiments.get(name)
        return found and SimpleNamespace(experiment_id=found)

    def create_experiment(self, name: str) -> str:
        self.experiments[name] = str(len(self.experiments) + 1)
        return self.experiments[name]

    def search_runs(self, experiments: list[str], filter_string: str, max_results: int) -> Any:
        name, value = filter_string.removeprefix("tags.`").removesuffix("'").split("` = '")
        return [
            self._shown(key)
            for key, run in self.runs.items()
            if run.experiment in experiments and run.tags.get(name) == value
        ][:max_results]

    def create_run(
        self, experiment: str, start_time: int = 0, tags: Any = None, run_name: str = ""
    ) -> Any:
        key = f"run {len(self.runs)}"
        self.runs[key] = Run(experiment, dict(tags), run_name)
        return self._shown(key)

    def log_metric(self, run: str, key: str, value: float, step: int) -> None:
        self.runs[run].history.append(Metric(key, value, 0, step))

    def log_batch(self, run: str, metrics: Any = (), params: Any = ()) -> None:
        assert len(metrics) <= 1000
        assert len(params) <= 100
        found = self.runs[run]
        for param in params:
            assert found.params.setdefault(param.key, param.value) == param.value
        # What is equal in all is kept once.
        found.history += [each for each in metrics if each not in found.history]

    def log_artifacts(self, run: str, folder: str) -> None:
        if self.is_failing:
            raise OSError("the password of the store is 1234")
        self.runs[run].files |= {each.name: each.read_bytes() for each in Path(folder).iterdir()}

    def set_tag(self, run: str, name: str, value: str) -> None:
        self.runs[run].tags[name] = value

    def set_terminated(self, run: str, status: str, end: int) -> None:
        self.runs[run].status, self.runs[run].end = status, end

    def _shown(self, key: str) -> Any:
        run = self.runs[key]
        data = SimpleNamespace(tags=dict(run.tags), params=dict(run.params))
        return SimpleNamespace(info=SimpleNamespace(run_id=key), data=data)
