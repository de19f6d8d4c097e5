"""A gateway with callers of three teams, and what they push there."""

import hashlib
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import grpc
from tests.fakes.installation import listening
from tests.fakes.loopback_server import bearer, stub_of

from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.owners import Sharing
from caliper.ports.storage import DeletableStore
from caliper.wiring.gateway_options import GatewayOptions
from caliper.wiring.grounds import memory_ground
from caliper.wiring.service_settings import GatewaySettings, JudgeSettings, QaReaderSettings
from caliper.wiring.startup import all_services

CALLERS = {
    "ana": "evaluate red",
    "ben": "evaluate red",
    "cleo": "evaluate blue",
    "dora": "evaluate green",
    "root": "admin",
}


def tokens(folder: Path) -> Path:
    file = folder / "tokens"
    lines = []
    for name, known in CALLERS.items():
        role, *team = known.split()
        lines.append(" ".join((name, role, hashlib.sha256(name.encode()).hexdigest(), *team)))
    file.write_text("\n".join(lines), "utf-8")
    return file


@asynccontextmanager
async def gateway(store: DeletableStore, folder: Path, sharing: Sharing) -> AsyncIterator[Any]:
    """A channel to all services in one process. A caller's token is its name."""
    options = GatewayOptions.of(GatewaySettings(sharing=sharing))
    ground = memory_ground(store)
    parts = await all_services(ground, JudgeSettings(), QaReaderSettings(), None, options)
    async with (
        listening(parts, tokens(folder)) as address,
        grpc.aio.insecure_channel(address) as channel,
    ):
        yield channel


def dataset(
    rows: bytes,
    name: str = "",
    *,
    folder: bool = False,
    media: Mapping[str, bytes] = MappingProxyType({}),
    sent: Collection[bytes] | None = None,
) -> list[pb.UploadDatasetRequest]:
    """What pushes questions with their media. Only those contents go with it that are `sent`, all
    if that is None.
    """
    file = pb.DatasetFile(name="questions.json", sha256=sha256_of(rows))
    header = pb.DatasetHeader(benchmark="captionqa", name=name, files=[file], folder=folder)
    requests = [pb.UploadDatasetRequest(header=header)]
    for path, data in media.items():
        medium = pb.DatasetFile(name=path, sha256=sha256_of(data))
        requests.append(pb.UploadDatasetRequest(medium=medium))
    for data in (*media.values(), rows) if sent is None else sent:
        content = pb.DatasetContent(sha256=sha256_of(data), data=data)
        requests.append(pb.UploadDatasetRequest(content=content))
    return requests


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def push(
    channel: grpc.aio.Channel, caller: str, requests: Iterable[pb.UploadDatasetRequest]
) -> pb.UploadDatasetResponse:
    """The answer to what a caller pushes."""
    upload = stub_of("EvaluateService", channel).UploadDataset
    response: pb.UploadDatasetResponse = await upload(iter(requests), metadata=bearer(caller))
    return response


async def pushed(channel: grpc.aio.Channel, caller: str, name: str, rows: bytes) -> str:
    """The id of a dataset that a caller pushed; what is refused is said instead."""
    try:
        return str((await push(channel, caller, dataset(rows, name))).dataset)
    except grpc.aio.AioRpcError as error:
        return str(error.details())


async def started(
    channel: grpc.aio.Channel, caller: str, request: pb.StartEvaluationRequest
) -> Any:
    """The evaluation that a caller starts, or why that is refused."""
    start = stub_of("EvaluateService", channel).StartEvaluation
    try:
        return (await start(request, metadata=bearer(caller))).evaluation
    except grpc.aio.AioRpcError as error:
        return str(error.details())
