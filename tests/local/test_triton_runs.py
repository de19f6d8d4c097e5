"""Whole runs whose checkpoint is on a real Triton server in every kind of trouble: it costs time or
stops the run, and never changes a caption.
"""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import tiny
from tests.fakes.sources import EXAMPLES
from tests.servers.process import ServerProcess
from tests.servers.triton_server import change_checkpoint, models_of, put_back
from tritonclient.grpc import InferenceServerClient

from caliper.core.errors import ModelChanged
from caliper.core.messages import ExamineJob, Verdicts
from caliper.local.config import check_config
from caliper.local.run import RunResult, evaluate
from caliper.local.setup import prepare
from caliper.local.watchers import SilentWatcher
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access

SAMPLES = 16
PATIENT = Access(timeout=60.0, retry_budget=120.0)
Own = tuple[ServerProcess, str]


@pytest.fixture(params=["captioner", "vllm_like#template=plain"], ids=["plain", "vllm"])
def rest(request: pytest.FixtureRequest) -> str:
    """A model of each shape."""
    found: str = request.param
    return found


@pytest.fixture
def lent(own_triton: Own, tmp_path: Path) -> Iterator[Own]:
    """The module's own server, its models put back afterwards, and pictures in `data`."""
    tiny.write_pictures(tmp_path, SAMPLES, shade=10)
    with put_back(*own_triton):
        yield own_triton


@dataclass
class Meddler(SilentWatcher):
    """Does something at once when so many captions are written, or captions of others are judged;
    nothing else goes on meanwhile.
    """

    act: Callable[[], None] | None = None
    after: int = 5
    captions: int = field(default=0, init=False)
    judged: int = field(default=0, init=False)

    def on_caption(self, benchmark: str, sample: str) -> None:
        self.captions += 1
        self._act(self.captions)

    def on_verdicts(self, job: ExamineJob, verdicts: Verdicts) -> None:
        self.judged += 1
        if not self.captions:
            self._act(self.judged)

    def _act(self, done: int) -> None:
        if done == self.after and self.act is not None:
            self.act()


class TellingClock(SystemClock):
    """The clock of the models. Tells when one first waits: it met trouble, and is tried again."""

    def __init__(self) -> None:
        self.waited = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.waited.set()
        await super().sleep(seconds)


async def run_of(
    benchmarks: dict[str, Any],
    out: Path,
    meddler: Meddler | None = None,
    access: Access = PATIENT,
    clock: SystemClock | None = None,
) -> RunResult:
    places = {"out": str(out), "store": f"{out}-store"}
    config = check_config({"name": "step1", "benchmarks": benchmarks, "concurrency": 2, **places})
    async with prepare(config, access, clock or SystemClock()) as prepared:
        return await evaluate(prepared, meddler or Meddler(), SystemClock())


async def run(folder: Path, model: str, out: str, *how: Any) -> RunResult:
    part = {"data": str(folder / "data"), "captioner": f"triton:{model}"}
    return await run_of({"capability": part}, folder / out, *how)


def same(folder: Path, one: str, other: str) -> bool:
    files = ("report.json", "captions.jsonl", "verdicts.jsonl")
    return all((folder / one / f).read_bytes() == (folder / other / f).read_bytes() for f in files)


async def test_a_model_that_is_away_for_a_while(lent: Own, rest: str, tmp_path: Path) -> None:
    _, address = lent
    name = rest.partition("#")[0]
    await run(tmp_path, f"{address}/{rest}", "quiet")
    clock = TellingClock()
    with InferenceServerClient(address) as control:
        meddler = Meddler(lambda: control.unload_model(name))
        running = asyncio.create_task(
            run(tmp_path, f"{address}/{rest}", "run", meddler, PATIENT, clock)
        )
        await clock.waited.wait()
        assert not running.done()
        control.load_model(name)
        found = await running
    assert found.report.state == "complete"
    assert same(tmp_path, "run", "quiet")


def load_second_version(own: Own, name: str) -> None:
    folder = models_of(own[0]) / name
    shutil.copytree(folder / "1", folder / "2")
    with InferenceServerClient(own[1]) as control:
        control.load_model(name)


async def test_another_version_stops_the_run(lent: Own, rest: str, tmp_path: Path) -> None:
    switch = partial(load_second_version, lent, rest.partition("#")[0])
    with pytest.raises(ModelChanged, match="the run was resolved with"):
        await run(tmp_path, f"{lent[1]}/{rest}", "run", Meddler(switch))
    assert not (tmp_path / "run" / "report.json").exists()


async def test_a_server_that_is_restarted_with_another_model(lent: Own, tmp_path: Path) -> None:
    server, address = lent

    def restart() -> None:
        server.kill()
        change_checkpoint(server)
        server.start()

    with pytest.raises(ModelChanged, match="resolved with"):
        await run(tmp_path, f"{address}/captioner", "run", Meddler(restart))
    assert not (tmp_path / "run" / "report.json").exists()


def scenes(address: str) -> dict[str, Any]:
    """CompreCap's examples, with similarities by the server."""
    part = {
        "data": str(EXAMPLES / "comprecap" / "anno.json"),
        "captions": str(EXAMPLES / "captions" / "careful" / "comprecap.json"),
        "embedder": f"triton:{address}/sentences",
    }
    return {"comprecap": part}


async def test_another_embedder_stops_the_run(lent: Own, tmp_path: Path) -> None:
    switch = partial(load_second_version, lent, "sentences")
    with pytest.raises(ModelChanged, match=r"no longer has sentences as it was: .*2"):
        await run_of(scenes(lent[1]), tmp_path / "run", Meddler(switch, after=1))
    assert not (tmp_path / "run" / "report.json").exists()
