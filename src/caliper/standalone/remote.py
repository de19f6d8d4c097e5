"""A run on an installation: local files are pushed first, then its gateway is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.pipeline.gateway import Evaluation
from caliper.pipeline.resolve import Asked, BenchmarkAsked
from caliper.pipeline.supplies import Parcel, push_dataset
from caliper.ports.storage import ObjectStore
from caliper.standalone.config import BenchmarkConfig, RunConfig
from caliper.standalone.prepare import open_sources
from caliper.standalone.taxonomy import taxonomy_of


async def send(config: RunConfig, gateway: RemoteGateway, store: ObjectStore | None) -> Evaluation:
    """Push data and captions, and start the run.

    `store` is the installation's, None where the datasets are there already. Models are those
    of the installation: a captioner, judge or reader is named as it is configured there.
    Raises InvalidInput naming file or field, and what the gateway and the store raise.
    """
    if config.pack is not None:
        raise InvalidInput("an installation has its own prompts", field="pack")
    for cap in ("max_calls", "max_tokens"):
        if getattr(config, cap) is not None:
            raise InvalidInput("only a run of this process can be capped", field=cap)
    parts = []
    for name, part in config.benchmarks.items():
        parcel = parcel_of(name, part)
        if store is not None:
            await push_dataset(store, parcel)
        parts.append(await _asked(name, part, parcel, gateway))
    asked = Asked(
        name=config.label,
        benchmarks=tuple(parts),
        seed=config.seed,
        limit=config.limit,
        replicate=config.replicate,
        coverage_floor=config.coverage_floor,
    )
    found, _ = await gateway.start(asked)
    return found


def parcel_of(name: str, part: BenchmarkConfig) -> Parcel:
    """A dataset to push; its media only where a captioner has to look at them.

    Raises InvalidInput for files that are not what the benchmark's layout says.
    """
    return parcel_at(name, part.data, None if part.captioner is None else part.media_root)


def parcel_at(name: str, data: Path, media_root: Path | None) -> Parcel:
    """A dataset to push, with those of its media that lie below `media_root`; None: without.

    Raises InvalidInput for files that are not what the benchmark's layout says.
    """
    layout = benchmark(name).data
    files = DatasetFiles(data)
    media = {} if media_root is None else _media(name, files, media_root)
    return Parcel(files.digest(layout), tuple(files.files(layout)), data.is_dir(), media)


def _media(name: str, files: DatasetFiles, root: Path) -> Mapping[str, Path]:
    chosen = benchmark(name)
    request = PlanRequest(settings={setting.name: setting.default for setting in chosen.settings})
    items = chosen.plan(files.rows(chosen.data), request)
    paths = {path for item in items for path in item.media}
    there = {path: root / path for path in sorted(paths)}
    return {path: file for path, file in there.items() if file.is_file()}


async def _asked(
    name: str, part: BenchmarkConfig, parcel: Parcel, gateway: RemoteGateway
) -> BenchmarkAsked:
    if part.qa is not None or part.qa_replies is not None:
        raise InvalidInput("questions from the media are asked in one process only", field="qa")
    captions = None
    supplied = open_sources(name, part).captions
    if supplied is not None:
        captions = await gateway.upload(name, supplied)
    given = {"judge": part.judge, "reader": part.reader}
    return BenchmarkAsked(
        name=name,
        data=parcel.digest,
        captions=captions,
        captioner=part.captioner,
        prompt=part.prompt,
        settings=part.set,
        repeats=part.repeats,
        answerers={role: spec for role, spec in given.items() if spec is not None},
        preparation=part.prepared,
        taxonomy=taxonomy_of(name, part),
    )
