import datetime

from caliper.api.types.v1 import outcome_pb2 as _outcome_pb2
from caliper.api.types.v1 import run_pb2 as _run_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class BenchmarkRequest(_message.Message):
    __slots__ = ("name", "data", "captions", "captioner", "qa_data", "prompt", "settings", "repeats", "judge", "reader", "media", "qa_replies")
    class SettingsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    CAPTIONS_FIELD_NUMBER: _ClassVar[int]
    CAPTIONER_FIELD_NUMBER: _ClassVar[int]
    QA_DATA_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    JUDGE_FIELD_NUMBER: _ClassVar[int]
    READER_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    QA_REPLIES_FIELD_NUMBER: _ClassVar[int]
    name: str
    data: str
    captions: str
    captioner: str
    qa_data: str
    prompt: str
    settings: _containers.ScalarMap[str, str]
    repeats: int
    judge: str
    reader: str
    media: str
    qa_replies: str
    def __init__(self, name: _Optional[str] = ..., data: _Optional[str] = ..., captions: _Optional[str] = ..., captioner: _Optional[str] = ..., qa_data: _Optional[str] = ..., prompt: _Optional[str] = ..., settings: _Optional[_Mapping[str, str]] = ..., repeats: _Optional[int] = ..., judge: _Optional[str] = ..., reader: _Optional[str] = ..., media: _Optional[str] = ..., qa_replies: _Optional[str] = ...) -> None: ...

class StartEvaluationRequest(_message.Message):
    __slots__ = ("name", "benchmarks", "seed", "limit", "replicate", "coverage_floor", "client_key")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BENCHMARKS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REPLICATE_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FLOOR_FIELD_NUMBER: _ClassVar[int]
    CLIENT_KEY_FIELD_NUMBER: _ClassVar[int]
    name: str
    benchmarks: _containers.RepeatedCompositeFieldContainer[BenchmarkRequest]
    seed: int
    limit: int
    replicate: int
    coverage_floor: float
    client_key: str
    def __init__(self, name: _Optional[str] = ..., benchmarks: _Optional[_Iterable[_Union[BenchmarkRequest, _Mapping]]] = ..., seed: _Optional[int] = ..., limit: _Optional[int] = ..., replicate: _Optional[int] = ..., coverage_floor: _Optional[float] = ..., client_key: _Optional[str] = ...) -> None: ...

class StartEvaluationResponse(_message.Message):
    __slots__ = ("evaluation", "created")
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    created: bool
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ..., created: _Optional[bool] = ...) -> None: ...

class Evaluation(_message.Message):
    __slots__ = ("run", "state", "spec", "started", "benchmarks", "error")
    RUN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    BENCHMARKS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    run: str
    state: _run_pb2.RunState
    spec: _run_pb2.RunSpec
    started: _timestamp_pb2.Timestamp
    benchmarks: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.BenchmarkScores]
    error: str
    def __init__(self, run: _Optional[str] = ..., state: _Optional[_Union[_run_pb2.RunState, str]] = ..., spec: _Optional[_Union[_run_pb2.RunSpec, _Mapping]] = ..., started: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., benchmarks: _Optional[_Iterable[_Union[_outcome_pb2.BenchmarkScores, _Mapping]]] = ..., error: _Optional[str] = ...) -> None: ...

class GetEvaluationRequest(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: str
    def __init__(self, run: _Optional[str] = ...) -> None: ...

class GetEvaluationResponse(_message.Message):
    __slots__ = ("evaluation",)
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ...) -> None: ...

class WatchEvaluationRequest(_message.Message):
    __slots__ = ("run", "interval_ms")
    RUN_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_MS_FIELD_NUMBER: _ClassVar[int]
    run: str
    interval_ms: int
    def __init__(self, run: _Optional[str] = ..., interval_ms: _Optional[int] = ...) -> None: ...

class WatchEvaluationResponse(_message.Message):
    __slots__ = ("evaluation",)
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ...) -> None: ...

class ListEvaluationsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "name")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    name: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class ListEvaluationsResponse(_message.Message):
    __slots__ = ("evaluations", "next_page_token")
    EVALUATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    evaluations: _containers.RepeatedCompositeFieldContainer[Evaluation]
    next_page_token: str
    def __init__(self, evaluations: _Optional[_Iterable[_Union[Evaluation, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CancelEvaluationRequest(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: str
    def __init__(self, run: _Optional[str] = ...) -> None: ...

class CancelEvaluationResponse(_message.Message):
    __slots__ = ("evaluation",)
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ...) -> None: ...

class GetReportRequest(_message.Message):
    __slots__ = ("run", "partial", "file")
    RUN_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    run: str
    partial: bool
    file: str
    def __init__(self, run: _Optional[str] = ..., partial: _Optional[bool] = ..., file: _Optional[str] = ...) -> None: ...

class GetReportResponse(_message.Message):
    __slots__ = ("content", "media_type", "size")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    content: bytes
    media_type: str
    size: int
    def __init__(self, content: _Optional[bytes] = ..., media_type: _Optional[str] = ..., size: _Optional[int] = ...) -> None: ...

class ListVerdictsRequest(_message.Message):
    __slots__ = ("run", "benchmark", "dimension", "outcome", "page_size", "page_token")
    RUN_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run: str
    benchmark: str
    dimension: str
    outcome: str
    page_size: int
    page_token: str
    def __init__(self, run: _Optional[str] = ..., benchmark: _Optional[str] = ..., dimension: _Optional[str] = ..., outcome: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListVerdictsResponse(_message.Message):
    __slots__ = ("verdicts", "next_page_token")
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    verdicts: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.VerdictRow]
    next_page_token: str
    def __init__(self, verdicts: _Optional[_Iterable[_Union[_outcome_pb2.VerdictRow, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UploadCaptionsRequest(_message.Message):
    __slots__ = ("header", "caption")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CAPTION_FIELD_NUMBER: _ClassVar[int]
    header: UploadHeader
    caption: UploadedCaption
    def __init__(self, header: _Optional[_Union[UploadHeader, _Mapping]] = ..., caption: _Optional[_Union[UploadedCaption, _Mapping]] = ...) -> None: ...

class UploadHeader(_message.Message):
    __slots__ = ("benchmark",)
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    def __init__(self, benchmark: _Optional[str] = ...) -> None: ...

class UploadedCaption(_message.Message):
    __slots__ = ("sample", "text")
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    sample: str
    text: str
    def __init__(self, sample: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class UploadCaptionsResponse(_message.Message):
    __slots__ = ("captions", "count")
    CAPTIONS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    captions: str
    count: int
    def __init__(self, captions: _Optional[str] = ..., count: _Optional[int] = ...) -> None: ...
