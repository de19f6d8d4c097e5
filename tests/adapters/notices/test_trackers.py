"""Trackers: figures land at the training step of their checkpoint, in whatever order they come."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest
from tests.fakes.mlflow_server import Server
from tests.fakes.notices import notice

from caliper.adapters.notices.trackers import WITH_FIGURES, MlflowTracker, WandbTracker
from caliper.core.errors import BackendUnavailable, InvalidInput

RUN = "caliper-nightly-" + "a" * 16
Calls = list[tuple[Any, ...]]


def install(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    """A library of this name, as if it were installed."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    for each, value in members.items():
        setattr(module, each, value)
    monkeypatch.setitem(sys.modules, name, module)


class FakeRun:
    """A run of W&B."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def define_metric(self, name: str, step_metric: str | None = None) -> None:
        self._calls.append(("define", name, step_metric))

    def log(self, data: dict[str, Any]) -> None:
        self._calls.append(("log", data))

    def finish(self) -> None:
        self._calls.append(("finish",))


async def test_wandb_draws_late_figures_over_the_training_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: Calls = []

    def init(**options: Any) -> FakeRun:
        calls.append(("init", options))
        return FakeRun(calls)

    install(monkeypatch, "wandb", init=init, Settings=dict)
    tracker = WandbTracker(WITH_FIGURES, "captions")
    for step in (20, 10):
        await tracker.deliver(notice(step=step))
    options = {"project": "captions", "id": RUN, "name": RUN, "resume": "allow"}
    settings = [each[1].pop("settings") for each in calls if each[0] == "init"]
    # Neither what this process writes nor where it runs.
    assert {(each["console"], each["x_disable_meta"]) for each in settings} == {("off", True)}
    assert {each[1].pop("reinit") for each in calls if each[0] == "init"} == {"create_new"}
    figures = {"caliper/capability.average.f1": 41.25, "caliper/capability.tasks.a _b_.f1": 30.5}

    def once(step: int) -> Calls:
        return [
            ("init", options),
            ("define", "caliper/step", None),
            ("define", "caliper/*", "caliper/step"),
            ("log", {"caliper/step": step, **figures}),
            ("finish",),
        ]

    assert calls == [*once(20), *once(10)]


async def test_mlflow_gets_late_figures_at_their_step(monkeypatch: pytest.MonkeyPatch) -> None:
    server, places = Server(), []

    def connect(tracking_uri: str | None) -> Server:
        places.append(tracking_uri)
        return server

    install(monkeypatch, "mlflow", MlflowClient=connect)
    for url, step in (("http://127.0.0.1:5000", 20), ("", 10)):
        await MlflowTracker(WITH_FIGURES, "captions", lambda url=url: url).deliver(
            notice(step=step)
        )
    assert places == ["http://127.0.0.1:5000", None]
    (run,) = server.runs.values()
    assert (run.name, list(server.experiments)) == (RUN, ["captions"])
    assert [(each.key, each.value, each.step) for each in run.history] == [
        ("capability.average.f1", 41.25, 20),
        ("capability.tasks.a _b_.f1", 30.5, 20),
        ("capability.average.f1", 41.25, 10),
        ("capability.tasks.a _b_.f1", 30.5, 10),
    ]


async def test_a_suite_draws_out_no_credentials_of_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    server, places = Server(), []

    def connect(tracking_uri: str | None) -> Server:
        places.append(tracking_uri)
        return server

    install(monkeypatch, "mlflow", MlflowClient=connect)
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "sesame-4711")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://mine.test/")
    with pytest.raises(InvalidInput, match="only to MLFLOW_TRACKING_URI"):
        await MlflowTracker(WITH_FIGURES, "x", lambda: "https://evil.test").deliver(notice())
    for url in ("https://mine.test", ""):
        await MlflowTracker(WITH_FIGURES, "x", lambda url=url: url).deliver(notice())
    assert places == ["https://mine.test", None]


async def test_without_a_step_there_is_no_place_for_figures() -> None:
    await WandbTracker(WITH_FIGURES, "captions").deliver(notice(step=None))


async def test_a_library_that_is_missing_or_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="needs mlflow: pip install"):
        await MlflowTracker(WITH_FIGURES, "captions", str).deliver(notice())

    def init(**_: Any) -> None:
        raise OSError("the key is 1234")

    install(monkeypatch, "wandb", init=init, Settings=dict)
    with pytest.raises(BackendUnavailable, match=r"^wandb: OSError$"):
        await WandbTracker(WITH_FIGURES, "captions").deliver(notice())
