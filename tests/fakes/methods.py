"""Every method of every service, its permitted callers, and a call without a meaningful message."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

import caliper.api

ALL = ("read", "evaluate", "admin")
TEAMS = ("evaluate", "admin")
PERMITTED = {
    "/caliper.api.aggregator.v1.AggregatorService/GetScores": ALL,
    "/caliper.api.aggregator.v1.AggregatorService/WatchScores": ALL,
    "/caliper.api.captioner.v1.CaptionerService/Caption": TEAMS,
    "/caliper.api.captioner.v1.CaptionerService/Describe": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/CancelEvaluation": TEAMS,
    "/caliper.api.evaluate.v1.EvaluateService/CompareEvaluations": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/GetEvaluation": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/GetLook": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/GetReport": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/ListDatasets": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/ListEvaluations": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/ListQuotas": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/ListVerdicts": ALL,
    "/caliper.api.evaluate.v1.EvaluateService/StartEvaluation": TEAMS,
    "/caliper.api.evaluate.v1.EvaluateService/UploadCaptions": TEAMS,
    "/caliper.api.evaluate.v1.EvaluateService/UploadDataset": TEAMS,
    "/caliper.api.evaluate.v1.EvaluateService/WatchEvaluation": ALL,
    "/caliper.api.judge.v1.JudgeService/Describe": ALL,
    "/caliper.api.judge.v1.JudgeService/Judge": TEAMS,
    "/caliper.api.qa_reader.v1.QaReaderService/Answer": TEAMS,
    "/caliper.api.qa_reader.v1.QaReaderService/Describe": ALL,
    "/caliper.api.suites.v1.CheckpointService/GetCheckpoint": ALL,
    "/caliper.api.suites.v1.CheckpointService/ListCheckpoints": ALL,
    "/caliper.api.suites.v1.CheckpointService/ListNotices": ALL,
    "/caliper.api.suites.v1.CheckpointService/ListProgress": ALL,
    "/caliper.api.suites.v1.CheckpointService/RegisterCheckpoint": TEAMS,
    "/caliper.api.suites.v1.CheckpointService/ReplayNotice": TEAMS,
    "/caliper.api.suites.v1.CheckpointService/RetryCheckpoint": TEAMS,
    "/caliper.api.suites.v1.CheckpointService/SkipCheckpoint": TEAMS,
    "/caliper.api.suites.v1.SuiteService/ApplySuite": TEAMS,
    "/caliper.api.suites.v1.SuiteService/GetAccount": ALL,
    "/caliper.api.suites.v1.SuiteService/GetSuite": ALL,
    "/caliper.api.suites.v1.SuiteService/ListSlots": ALL,
    "/caliper.api.suites.v1.SuiteService/ListSuites": ALL,
    "/caliper.api.suites.v1.SuiteService/PauseSuite": TEAMS,
    "/caliper.api.suites.v1.SuiteService/ResumeSuite": TEAMS,
    "/caliper.api.suites.v1.SuiteService/RetireSuite": TEAMS,
    "/grpc.health.v1.Health/Check": ALL,
    "/grpc.health.v1.Health/Watch": ALL,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": ("admin",),
}


def contract() -> Iterator[Any]:
    """The descriptor of every service of the contract."""
    for module in pkgutil.walk_packages(caliper.api.__path__, "caliper.api."):
        if module.name.endswith("_pb2"):
            messages = importlib.import_module(module.name)
            yield from messages.DESCRIPTOR.services_by_name.values()


CONTRACTS = {service.name: service for service in contract()}
"""By the names of the services."""


def methods() -> list[Any]:
    services = list(contract())
    services += health_pb2.DESCRIPTOR.services_by_name.values()
    services += reflection_pb2.DESCRIPTOR.services_by_name.values()
    return [method for service in services for method in service.methods]


def path_of(method: Any) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"


async def called(channel: grpc.aio.Channel, method: Any, metadata: Any) -> grpc.StatusCode:
    """Make a call up to its first answer.

    A stream of requests ends at once: if a message is sent after the refusal, gRPC reports that
    sending failed, but not why.
    """
    if method.client_streaming:
        call = channel.stream_stream(path_of(method))(iter(()), metadata=metadata)
    else:
        call = channel.unary_stream(path_of(method))(b"", metadata=metadata)
    try:
        answer = await call.read()
        assert isinstance(answer, bytes) or answer is grpc.aio.EOF
    except grpc.aio.AioRpcError as error:
        return error.code()
    if isinstance(answer, bytes):
        call.cancel()
        return grpc.StatusCode.OK
    code: grpc.StatusCode = await call.code()
    return code
