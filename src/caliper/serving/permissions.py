"""Permissions: one rule per method of every service.

Methods without a rule are refused; methods that are not served are UNIMPLEMENTED.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caliper.serving.tokens import Role


@dataclass(frozen=True, slots=True)
class Rule:
    """The lowest `role` that may call a method, and how many calls a caller may have in flight.

    Methods with the same rule share `in_flight`; a server takes more calls than all rules together.
    `is_stream` marks a long-lived stream: it gets no default deadline, and ends at once when the
    service stops.
    """

    role: Role
    is_stream: bool = False
    in_flight: int = 100


_READ = Rule(Role.READ)
_EVALUATE = Rule(Role.EVALUATE)
_WATCH = Rule(Role.READ, is_stream=True, in_flight=50)
# Calls that read many objects, or hold a thread or much of the disk.
_READ_MUCH = Rule(Role.READ, in_flight=8)
_CHANGE = Rule(Role.EVALUATE, in_flight=8)
_UPLOAD = Rule(Role.EVALUATE, in_flight=2)
# Data may take minutes, and must not hold up captions.
_PUSH = Rule(Role.EVALUATE, in_flight=4)
# The gateway is one caller of the other services, for all of its own callers.
_RELAY = Rule(Role.READ, in_flight=400)
_RELAYED_WATCH = Rule(Role.READ, is_stream=True, in_flight=300)

_SERVICES: Mapping[str, Mapping[str, Rule]] = {
    "caliper.api.evaluate.v1.EvaluateService": {
        "StartEvaluation": _EVALUATE,
        "GetEvaluation": _READ,
        "WatchEvaluation": _WATCH,
        "ListEvaluations": _READ_MUCH,
        "CancelEvaluation": _EVALUATE,
        "GetReport": _READ_MUCH,
        "ListVerdicts": _READ,
        "CompareEvaluations": _READ_MUCH,
        "GetLook": _READ_MUCH,
        "UploadCaptions": _UPLOAD,
        "UploadDataset": _PUSH,
        "ListDatasets": _READ_MUCH,
        "ListQuotas": _READ_MUCH,
    },
    "caliper.api.aggregator.v1.AggregatorService": {
        "GetScores": _RELAY,
        "WatchScores": _RELAYED_WATCH,
    },
    "caliper.api.suites.v1.SuiteService": {
        "ApplySuite": _EVALUATE,
        "ListSuites": _READ_MUCH,
        "GetSuite": _READ,
        "PauseSuite": _EVALUATE,
        "ResumeSuite": _EVALUATE,
        "RetireSuite": _EVALUATE,
        "GetAccount": _READ,
        "ListSlots": _READ_MUCH,
    },
    "caliper.api.suites.v1.CheckpointService": {
        "RegisterCheckpoint": _EVALUATE,
        "ListCheckpoints": _READ_MUCH,
        "GetCheckpoint": _READ_MUCH,
        "RetryCheckpoint": _CHANGE,
        "SkipCheckpoint": _CHANGE,
        "ListNotices": _READ_MUCH,
        "ReplayNotice": _CHANGE,
        "ListProgress": _READ_MUCH,
    },
    # These use models outside of runs.
    "caliper.api.captioner.v1.CaptionerService": {"Caption": _EVALUATE, "Describe": _RELAY},
    "caliper.api.judge.v1.JudgeService": {"Judge": _EVALUATE, "Describe": _RELAY},
    "caliper.api.qa_reader.v1.QaReaderService": {"Answer": _EVALUATE, "Describe": _RELAY},
    "grpc.health.v1.Health": {"Check": _READ, "Watch": _WATCH},
    # A tool for operators.
    "grpc.reflection.v1alpha.ServerReflection": {
        "ServerReflectionInfo": Rule(Role.ADMIN, is_stream=True, in_flight=10)
    },
}

RULES: Mapping[str, Rule] = {
    f"/{service}/{method}": rule
    for service, methods in _SERVICES.items()
    for method, rule in methods.items()
}
"""Rules by full method name, as in gRPC."""
