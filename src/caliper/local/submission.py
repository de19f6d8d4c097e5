"""Submits a run to an installation: pushes local files, then starts it at the gateway."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.media.place import find
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import benchmark
from caliper.benchmarks.settings import resolve_settings
from caliper.core.errors import InvalidInput, MediaMissing
from caliper.core.keys import canonical_json
from caliper.core.layout import Layout
from caliper.core.question import Source
from caliper.core.rows import Row
from caliper.core.run import check_name
from caliper.core.suites import Suite
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig, check_config, is_installed
from caliper.local.data_fetch import fetch_data
from caliper.local.installation_requests import OWN_ANCHORS, check_installed
from caliper.local.request import part_request, run_request
from caliper.local.sample_captions import captions_as_named
from caliper.local.setup import open_sources
from caliper.local.taxonomy import taxonomy_of
from caliper.pipeline.ledger.stop_criterion import StopCriterion
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest
from caliper.pipeline.store.plan import qa_layout
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.supplies import Parcel
from caliper.wiring.models import ModelRoom


async def send(
    config: RunConfig,
    gateway: RemoteGateway,
    judging: StopCriterion | None = None,
    note: Callable[[str], None] = lambda _: None,
    check: Callable[[EvaluationRequest], None] = lambda _: None,
) -> Evaluation:
    """Push data and captions, and start the run unless `check` raises an error. `note` is as for
    `open_sources`.

    `judging` ends the run once the answer is sure. Models are the installation's: captioner, judge
    and reader have the names that are configured there. Data may be the installation's, too, named
    NAME@VERSION. Raises InvalidInput naming file, line and field of rows that cannot be planned,
    and what the gateway raises.
    """
    if config.pack is not None:
        raise InvalidInput("an installation has its own prompts", field="pack")
    if config.store is not None:
        raise InvalidInput("an installation keeps data and replies in its own store", field="store")
    if config.anchors is not None:
        raise InvalidInput(OWN_ANCHORS, field="anchors")
    captioned = any(part.captioner is not None for part in config.benchmarks.values())
    if captioned and config.name is None:
        raise InvalidInput(
            "an installation's captioner stands for any checkpoint: name this one with --name",
            field="name",
        )
    check_name(config.label)
    config = await fetch_data(config)
    # Plan everything before sending anything: errors are raised here, not at the installation.
    supplies = {
        name: _installed(name, part) if is_installed(part.data) else _supplies(config, name, note)
        for name, part in config.benchmarks.items()
    }
    parts = []
    for name, part in config.benchmarks.items():
        for parcel in supplies[name].parcels.values():
            await gateway.push(parcel)
        parts.append(await _part_request(name, part, supplies[name], gateway))
    request = replace(run_request(config, config.label, parts), judging=judging)
    check(request)
    evaluation, _ = await gateway.start(request)
    return evaluation


async def push_suite(suite: Suite, push: Callable[[Parcel], Awaitable[None]]) -> Suite:
    """The suite as an installation stores it: data are named by digest, after `push`, or by
    NAME@VERSION if the installation has them.

    Raises InvalidInput for suites that an installation cannot evaluate and rows that cannot be
    planned; and what `push` raises.
    """
    check_installed(suite)
    config = await fetch_data(check_config(suite.values["run"], file=f"suite {suite.name}"))
    supplies, taxonomies = {}, {}
    for name, part in config.benchmarks.items():
        if nodes := taxonomy_of(name, part):
            taxonomies[name] = nodes
        bare = part.model_copy(update={"captions": None})
        supplies[name] = (
            _installed(name, bare)
            if is_installed(part.data)
            else _supplies(config.model_copy(update={"benchmarks": {name: bare}}), name)
        )
    stored = json.loads(canonical_json(suite.values))
    for name, supply in supplies.items():
        part = stored["run"]["benchmarks"][name]
        digests = {"data": supply.data}
        digests |= {field: parcel.digest for field, parcel in supply.parcels.items()}
        part |= {"data": digests["data"], "qa_replies": digests.get("qa_replies")}
        part |= {"qa": digests.get("qa_data") or part.get("qa"), "media": None, "taxonomy": None}
        if "captions" in part:
            # A placeholder, without the folder of the file.
            part["captions"] = Path(part["captions"]).name
        for parcel in supply.parcels.values():
            await push(parcel)
    return replace(suite, values={**stored, "taxonomies": taxonomies})


@dataclass(frozen=True, slots=True)
class _Supplies:
    """The data of a benchmark to send: parcels by field of the request, and captions. `data` is the
    name of data that the installation already has.
    """

    parcels: Mapping[str, Parcel]
    captions: Mapping[str, str] | None
    data: str = ""


def _installed(name: str, part: BenchmarkConfig) -> _Supplies:
    captions = None if part.captions is None else captions_as_named(name, part.captions)
    return _Supplies(parcels_from_media(name, part), captions, str(part.data))


def _supplies(
    config: RunConfig, name: str, note: Callable[[str], None] = lambda _: None
) -> _Supplies:
    part, own = config.benchmarks[name], benchmark(name)
    sources = open_sources(name, part, note)
    parcels = {"data": parcel_of(name, part), **parcels_from_media(name, part)}
    qa_rows: Iterable[Row] | None = None
    if part.qa is not None or part.qa_replies is not None:
        qa_rows = ()
        if own.qa_data is not None and sources.qa_data is not None:
            qa_rows = sources.qa_data.rows(own.qa_data)
    request = PlanRequest(
        settings=resolve_settings(name, part.set),
        seed=config.seed,
        repeats=part.repeats,
        captions=sources.captions,
        qa_rows=qa_rows,
    )
    for _ in own.plan(sources.data.rows(own.data), request):
        # Planning raises for invalid rows; the items are not needed.
        pass
    return _Supplies(parcels, sources.captions)


def parcel_of(name: str, part: BenchmarkConfig) -> Parcel:
    """A dataset to push, with its media only if a captioner needs them.

    Raises InvalidInput for files that do not match the benchmark's layout.
    """
    root = None if part.captioner is None else part.media_root
    return parcel_at(name, part.data, root, _qa_path(part))


def parcels_from_media(name: str, part: BenchmarkConfig) -> dict[str, Parcel]:
    """The parcels for questions about the media, by field of the request. The digest of recorded
    replies is the revision of the model that wrote them.

    Raises InvalidInput naming file and line of unreadable recordings, and if the questions are not
    those of the benchmark.
    """
    parcels: dict[str, Parcel] = {}
    if part.qa is None and part.qa_replies is None:
        return parcels
    path = _qa_path(part)
    layout = qa_layout(name, path=path is not None)
    if layout is not None and path is not None:
        parcels["qa_data"] = _parcel(name, path, layout)
    if part.qa_replies is not None:
        revision = ModelRoom.replay(name, part.qa_replies, Source.MEDIA).identity.revision
        replies = benchmark(name).qa_replies
        assert replies is not None  # noqa: S101 - ModelRoom.replay has read them
        recorded = _parcel(name, part.qa_replies, replies)
        parcels["qa_replies"] = replace(recorded, digest=revision, replies=True)
    return parcels


def _qa_path(part: BenchmarkConfig) -> Path | None:
    return part.qa if isinstance(part.qa, Path) else None


def _parcel(name: str, data: Path, layout: Layout) -> Parcel:
    files = DatasetFiles(data)
    return Parcel(name, files.digest(layout), tuple(files.files(layout)), data.is_dir(), {})


def parcel_at(name: str, data: Path, media_root: Path | None, qa: Path | None = None) -> Parcel:
    """A dataset to push, with its media below `media_root`, or without media if that is None.

    `qa` is the dataset in question form, whose media are included. Raises InvalidInput for files
    that do not match the benchmark's layout.
    """
    parcel = _parcel(name, data, benchmark(name).data)
    if media_root is None:
        return parcel
    media, lacking = _media(name, data, qa, media_root)
    return replace(parcel, media=media, missing=lacking)


def _media(
    name: str, data: Path, qa: Path | None, root: Path
) -> tuple[dict[str, Path], tuple[str, ...]]:
    """The existing media by path, and the paths of missing ones. Nothing outside the media folder
    is ever sent.

    Raises InvalidInput if the folder does not exist.
    """
    if not root.is_dir():
        raise InvalidInput("no such folder", file=str(root), field="media")
    own = benchmark(name)
    qa_rows = None
    if qa is not None and own.qa_data is not None:
        qa_rows = DatasetFiles(qa).rows(own.qa_data)
    settings = {setting.name: setting.default for setting in own.settings}
    rows = DatasetFiles(data).rows(own.data)
    items = own.plan(rows, PlanRequest(settings=settings, qa_rows=qa_rows))
    existing, lacking = {}, []
    for path in sorted({path for item in items for path in item.media}):
        try:
            existing[path] = find(root, path)
        except (MediaMissing, InvalidInput):
            lacking.append(path)
    return existing, tuple(lacking)


async def _part_request(
    name: str, part: BenchmarkConfig, supplies: _Supplies, gateway: RemoteGateway
) -> BenchmarkRequest:
    captions = None
    if supplies.captions is not None:
        captions = await gateway.upload(name, supplies.captions)
    digests = {"data": supplies.data}
    digests |= {field: parcel.digest for field, parcel in supplies.parcels.items()}
    specs = {"judge": part.judge, "reader": part.reader}
    answerers = {role: spec for role, spec in specs.items() if spec is not None}
    return part_request(name, part, {**digests, "captions": captions}, part.captioner, answerers)
