"""Requests of the services' benches: runs over synthetic data and captions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.datasets import push_dataset

from bench.services.model import DELAY_SECONDS, body_of
from bench.synthetic import write_capability, write_captionqa
from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.packs.files import shipped_pack
from caliper.adapters.streams.memory import MemoryStream
from caliper.benchmarks.registry import benchmark
from caliper.core.envelopes import Message
from caliper.core.keys import canonical_json
from caliper.core.messages import PlanJob, PlanMade
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.setup import open_sources
from caliper.local.submission import parcel_of
from caliper.pipeline.asking.request import render
from caliper.pipeline.planning.job_queue import read_queue
from caliper.pipeline.planning.planner import Planner
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest, resolve
from caliper.pipeline.store.runs import run_store
from caliper.pipeline.store.store_supplies import StoredSupplies
from caliper.pipeline.store.supplies import put_captions
from caliper.ports.stages import StageDirectory
from caliper.ports.storage import ObjectStore
from caliper.wiring.grounds import Ground


@dataclass(frozen=True, slots=True)
class Kind:
    """A benchmark to measure: the role and service that examine it, the number of verdicts per job,
    and the text that its stub answers.
    """

    benchmark: str
    role: str
    service: str
    verdicts: int
    text: str


CAPABILITY = Kind("capability", "judge", "judge", 1, "1")
CAPTIONQA = Kind("captionqa", "reader", "qa_reader", 13, "A")


@dataclass(frozen=True, slots=True)
class Size:
    """A backlog of `jobs` jobs with `in_flight` concurrent calls, followed by `paced` jobs at half
    the maximum pace that the model's `delay`, in seconds, allows.
    """

    in_flight: int
    jobs: int
    paced: int = 0
    delay: float = DELAY_SECONDS

    @property
    def pace(self) -> float:
        """The pace in calls per second."""
        return self.in_flight / self.delay / 2


async def ask_for(
    store: ObjectStore, kind: Kind, folder: Path, samples: int, replicate: int = 0
) -> EvaluationRequest:
    """Put data and captions into the store, and return a request over them. Requests that differ in
    `replicate` do not share replies.
    """
    if kind is CAPTIONQA:
        write_captionqa(folder, samples, kind.verdicts)
        part = BenchmarkConfig(data=folder / "data.jsonl", captions=folder / "captions.json")
    else:
        write_capability(folder, samples, names=("scene",))
        part = BenchmarkConfig(data=folder / "data", captions=folder / "captions")
    parcel = parcel_of(kind.benchmark, part)
    await push_dataset(store, parcel)
    captions = await put_captions(store, open_sources(kind.benchmark, part).captions or {})
    request = BenchmarkRequest(kind.benchmark, parcel.digest, captions)
    return EvaluationRequest("bench", (request,), replicate=replicate)


async def plan_jobs(
    ground: Ground, stages: StageDirectory, request: EvaluationRequest
) -> list[Message]:
    """Store and plan a run, and return its jobs without publishing them."""
    supplies = StoredSupplies(ground.store, DatasetFiles)
    spec = await resolve(request, supplies, stages)
    await ground.store.put(f"runs/{spec.run_id}/spec.json", canonical_json(spec.to_json()))
    stream = MemoryStream(logs=[RUNS])
    await Planner(ground.store, stream, ground.codec, ground.runs, supplies).plan(
        PlanJob(spec.run_id)
    )
    async with aclosing(stream.read(RUNS, {})) as events:
        made = ground.codec.read_run_event((await anext(events)).message.value)
    if not isinstance(made, PlanMade):
        raise TypeError("the plan was refused")
    own = run_store(ground.store, spec.run_id)
    shards = range(made.shards)
    jobs = [job for number in shards for job in await read_queue(own, made.start, number)]
    return [job.message for job in jobs]


def body_of_job(ground: Ground, job: Message) -> Mapping[str, Any]:
    """The body of the first question of a job, which the peer posts as well."""
    decoded = ground.codec.read_examine_job(job.value)
    chosen = benchmark(decoded.benchmark)
    settings = {setting.name: setting.default for setting in chosen.settings}
    caption = decoded.caption.text if decoded.caption else None
    batch = next(chosen.examine(decoded.items[0], caption, settings))
    if not isinstance(batch, tuple):
        raise TypeError("what is asked for first is no reply of a model")
    ask = batch[0]
    return body_of(render(shipped_pack().template(ask.prompt), ask.fields), ask.decoding)
