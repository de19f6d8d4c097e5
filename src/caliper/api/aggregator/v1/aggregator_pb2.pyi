from caliper.api.types.v1 import outcome_pb2 as _outcome_pb2
from caliper.api.types.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetScoresRequest(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: str
    def __init__(self, run: _Optional[str] = ...) -> None: ...

class GetScoresResponse(_message.Message):
    __slots__ = ("scores",)
    SCORES_FIELD_NUMBER: _ClassVar[int]
    scores: RunScores
    def __init__(self, scores: _Optional[_Union[RunScores, _Mapping]] = ...) -> None: ...

class WatchScoresRequest(_message.Message):
    __slots__ = ("run", "interval_ms")
    RUN_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    run: str
    interval_ms: int
    def __init__(self, run: _Optional[str] = ..., interval_ms: _Optional[int] = ...) -> None: ...

class WatchScoresResponse(_message.Message):
    __slots__ = ("scores",)
    SCORES_FIELD_NUMBER: _ClassVar[int]
    scores: RunScores
    def __init__(self, scores: _Optional[_Union[RunScores, _Mapping]] = ...) -> None: ...

class RunScores(_message.Message):
    __slots__ = ("state", "benchmarks", "error", "start")
    STATE_FIELD_NUMBER: _ClassVar[int]
    BENCHMARKS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    state: _run_pb2.RunState
    benchmarks: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.BenchmarkScores]
    error: str
    start: int
    def __init__(self, state: _Optional[_Union[_run_pb2.RunState, str]] = ..., benchmarks: _Optional[_Iterable[_Union[_outcome_pb2.BenchmarkScores, _Mapping]]] = ..., error: _Optional[str] = ..., start: _Optional[int] = ...) -> None: ...
