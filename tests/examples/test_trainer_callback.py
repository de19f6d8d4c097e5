"""The callback for training loops, called as transformers' Trainer calls it."""

import asyncio
import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes import tiny
from tests.fakes.loopback_server import serving
from tests.fakes.sources import EXAMPLES
from tests.fakes.suites import suite

import caliper
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.errors import InvalidInput, NotReady
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving.suites import services
from caliper.wiring.clock import SystemClock

EVENTS = ("on_init_end", "on_train_begin", "on_step_end", "on_save", "on_log", "on_train_end")


class Trainer:
    """Saves a checkpoint, and calls every event as transformers does."""

    def __init__(self, folder: Path, callback: Any) -> None:
        self.folder, self.callback = folder, callback

    def train(self, step: int, *, first: bool = True) -> None:
        tiny.text(self.folder / f"checkpoint-{step}" / "weights", str(step))
        args = SimpleNamespace(output_dir=str(self.folder))
        state = SimpleNamespace(global_step=step, is_world_process_zero=first)
        control = SimpleNamespace(should_save=True)
        for event in EVENTS:
            call = getattr(self.callback, event)
            assert call(args, state, control, model=None, processing_class=None) is None


@pytest.fixture
def callback_class() -> Any:
    path = EXAMPLES / "training" / "trainer_callback.py"
    assert len(path.read_text("utf-8").splitlines()) <= 30
    spec = importlib.util.spec_from_file_location("trainer_callback", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CheckpointCallback


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SuiteRegistry:
    """The registry of the working directory."""
    monkeypatch.chdir(tmp_path)
    return SuiteRegistry(DirectoryStore(tmp_path / "runs" / ".suites"), SystemClock())


async def entries(registry: SuiteRegistry) -> list[CheckpointEntry]:
    return [each.entry for each in (await registry.entries("nightly"))[0]]


async def test_what_a_trainer_saves_is_registered_in_this_folder(
    here: SuiteRegistry, callback_class: Any, tmp_path: Path
) -> None:
    await here.apply(suite())
    trainer = Trainer(tmp_path / "out", callback_class(tags=("sft",)))
    trainer.train(20)
    trainer.train(10)
    # Of several processes, the first.
    trainer.train(30, first=False)
    found = [(each.checkpoint.step, each.checkpoint.tags) for each in await entries(here)]
    assert found == [(10, ("sft",)), (20, ("sft",))]
    with pytest.raises(AttributeError):
        trainer.callback.state  # noqa: B018 - asked for, as hasattr does


async def test_what_a_trainer_saves_is_registered_on_an_installation(
    callback_class: Any, tmp_path: Path
) -> None:
    registry = SuiteRegistry(DirectoryStore(tmp_path / "store"), SystemClock())
    await registry.apply(suite())
    async with serving(*services(Administration(registry))) as server:
        callback = callback_class(server=str(server.address), suites=["nightly"])
        await asyncio.to_thread(Trainer(tmp_path / "out", callback).train, 10)
    (entry,) = await entries(registry)
    assert (entry.checkpoint.step, entry.checkpoint.is_digest) == (10, True)
    assert entry.checkpoint.source == str(tmp_path / "out" / "checkpoint-10")


def test_training_goes_on_where_nobody_takes_checkpoints(
    here: SuiteRegistry, callback_class: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Trainer(tmp_path / "out", callback_class()).train(10)
    assert "checkpoint-10 is not registered: no suite takes checkpoints" in caplog.text
    with pytest.raises(NotReady, match="no suite takes checkpoints"):
        caliper.register_checkpoint(tmp_path / "out" / "checkpoint-10")


async def test_a_plain_loop_registers_and_is_answered(here: SuiteRegistry, tmp_path: Path) -> None:
    await here.apply(suite())
    path = tiny.text(tmp_path / "step-7.json", "[]")
    # Also where an event loop runs, as in notebooks.
    (entry,) = caliper.register_checkpoint(path)
    assert (entry.suite, entry.state, entry.checkpoint.step) == ("nightly", "registered", 7)
    assert caliper.register_checkpoint(path) == [entry]
    (named,) = caliper.register_checkpoint("hf://org/model", revision="c0ffee", step=8)
    assert named.checkpoint.revision == "c0ffee"
    with pytest.raises(InvalidInput, match="no such file"):
        caliper.register_checkpoint(tmp_path / "none")
    with pytest.raises(AttributeError):
        caliper.nothing  # noqa: B018 - there is none
