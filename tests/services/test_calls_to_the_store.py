"""What a job costs in calls to the store, counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.counting_store import CountingStore
from tests.fakes.installation import listening, over
from tests.fakes.sources import EXAMPLES

from caliper.adapters.remote.channel import Target
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.run import RunState
from caliper.local.config import RunConfig, read_config
from caliper.local.submission import send
from caliper.pipeline.planning.resolution import LocalStages
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.ports.stages import StageDescription
from caliper.serving.lifecycle import ServiceParts, merge_parts
from caliper.wiring.aggregators import aggregator_parts
from caliper.wiring.grounds import Ground, memory_ground
from caliper.wiring.service_settings import CaptionerSettings, JudgeSettings, QaReaderSettings
from caliper.wiring.services import (
    captioner_parts,
    gateway_parts,
    open_answerer_parts,
)

MODEL = "fake/judge-8b"
LANGUAGE = ("rules", "ngram")


class CountingInstallation:
    """All services over one stream and directory, each counting its own calls to the store."""

    def __init__(self, folder: Path, url: str) -> None:
        self.ground = memory_ground(DirectoryStore(folder / "store"))
        self.stores = {
            name: CountingStore(self.ground.store) for name in ("judge", "reader", "captioner")
        }
        self._model = f"tgi:{url}"

    def own(self, name: str) -> Ground:
        ground = self.ground
        return Ground(self.stores[name], ground.stream, ground.logs, ground.codec, ground.clock)

    async def parts(self) -> ServiceParts:
        judging, reading = JudgeSettings(model=self._model), QaReaderSettings(model=self._model)
        judge, told = await open_answerer_parts("judge", judging, self.own("judge"), LANGUAGE)
        reader, read = await open_answerer_parts("reader", reading, self.own("reader"))
        captioning = CaptionerSettings(model=self._model)
        captioner, captioned = await captioner_parts(captioning, self.own("captioner"))
        described: dict[str, StageDescription] = {
            "judge": told,
            "reader": read,
            "captioner": captioned,
        }
        scores, board = aggregator_parts(self.ground)
        front = gateway_parts(self.ground, LocalStages(described), board)
        return merge_parts([judge, reader, captioner, scores, front])


def example(name: str, **changes: Any) -> RunConfig:
    config = read_config(EXAMPLES / "careful.yaml")
    part = config.benchmarks[name].model_copy(update=changes)
    return config.model_copy(update={"benchmarks": {name: part}, "limit": 4})


async def run(counted: CountingInstallation, config: RunConfig) -> int:
    """Evaluate, and give the number of jobs: one a sample."""
    async with (
        listening(await counted.parts()) as address,
        RemoteGateway(Target(address)) as gateway,
    ):
        for store in counted.stores.values():
            store.calls.clear()
        begun = await send(config, gateway)
        ended = await over(gateway, begun.spec.run_id)
        assert ended.state in (RunState.COMPLETE, RunState.FINISHED), ended.error
        rows, _ = await gateway.verdicts(begun.spec.run_id, VerdictQuery(size=1000))
    return len({row.sample for row in rows})


@pytest.fixture
def counting(tmp_path: Path) -> Callable[[str], CountingInstallation]:
    return lambda url: CountingInstallation(tmp_path, url)


@pytest.mark.parametrize(("name", "role"), [("capability", "judge"), ("captionqa", "reader")])
async def test_a_job_is_one_get_and_one_put(
    counting: Callable[[str], CountingInstallation], name: str, role: str
) -> None:
    async with ChatServer(otherwise=answer("A")) as chat:
        counted = counting(chat.url)
        jobs = await run(counted, example(name))
    store = counted.stores[role]
    assert store.count("GET", "jobs/") == store.count("PUT", "jobs/") == jobs > 1
    assert store.most("GET", "jobs/") == store.most("PUT", "jobs/") == 1
    # Beside jobs: once a run its spec, its caps and its anchors, and whether it was cancelled or
    # failed at most every other second.
    others = [call for call in store.calls if not call[1].startswith("jobs/")]
    told = {(method, key.rpartition("/")[2]) for method, key in others}
    anchors = {("GET", f"{name}.json"), ("PUT", f"{name}.json")}
    files = ("spec.json", "started.json", "cancelled.json", "end.json", "health")
    known = {("GET", file) for file in files}
    assert anchors <= told <= anchors | known
    assert sum(key.endswith(f"anchors/{name}.json") for _, key in others) == len(anchors)
    for once in ("spec.json", "started.json"):
        assert sum(key.endswith(once) for _, key in others) == 1


async def test_a_caption_is_one_get_beside_its_media(
    counting: Callable[[str], CountingInstallation],
) -> None:
    async with ChatServer(otherwise=answer("A small dog on green grass.")) as chat:
        counted = counting(chat.url)
        config = example("comprecap", captions=None, captioner=MODEL)
        jobs = await run(counted, config)
    store = counted.stores["captioner"]
    assert jobs > 1
    # What is known of it, and its one picture.
    assert store.count("GET", "captions/") == store.count("GET", "media/") == jobs
    # One for all runs that ask the same, and one for the report of this run.
    assert store.count("PUT", "captions/") == store.count("PUT", "runs/") == jobs
    assert store.count("PUT", "") == 2 * jobs
    # Once for all of them.
    assert store.count("GET", "datasets/") == 1
    assert store.count("LIST", "") == 0
