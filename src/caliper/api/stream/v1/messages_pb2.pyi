from caliper.api.types.v1 import outcome_pb2 as _outcome_pb2
from caliper.api.types.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Source(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SOURCE_UNSPECIFIED: _ClassVar[Source]
    SOURCE_CAPTION: _ClassVar[Source]
    SOURCE_MEDIA: _ClassVar[Source]
SOURCE_UNSPECIFIED: Source
SOURCE_CAPTION: Source
SOURCE_MEDIA: Source

class Caption(_message.Message):
    __slots__ = ("text", "truncated")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    text: str
    truncated: bool
    def __init__(self, text: _Optional[str] = ..., truncated: _Optional[bool] = ...) -> None: ...

class Question(_message.Message):
    __slots__ = ("ordinal", "repeats", "unscored", "note", "payload")
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    UNSCORED_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    ordinal: int
    repeats: int
    unscored: _outcome_pb2.Reason
    note: str
    payload: bytes
    def __init__(self, ordinal: _Optional[int] = ..., repeats: _Optional[int] = ..., unscored: _Optional[_Union[_outcome_pb2.Reason, str]] = ..., note: _Optional[str] = ..., payload: _Optional[bytes] = ...) -> None: ...

class Item(_message.Message):
    __slots__ = ("benchmark", "key", "sample", "cluster", "media", "source", "first", "questions")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    key: str
    sample: str
    cluster: str
    media: _containers.RepeatedScalarFieldContainer[str]
    source: Source
    first: int
    questions: _containers.RepeatedCompositeFieldContainer[Question]
    def __init__(self, benchmark: _Optional[str] = ..., key: _Optional[str] = ..., sample: _Optional[str] = ..., cluster: _Optional[str] = ..., media: _Optional[_Iterable[str]] = ..., source: _Optional[_Union[Source, str]] = ..., first: _Optional[int] = ..., questions: _Optional[_Iterable[_Union[Question, _Mapping]]] = ...) -> None: ...

class TokenCap(_message.Message):
    __slots__ = ("start", "tokens", "quota")
    START_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    QUOTA_FIELD_NUMBER: _ClassVar[int]
    start: int
    tokens: int
    quota: DayQuota
    def __init__(self, start: _Optional[int] = ..., tokens: _Optional[int] = ..., quota: _Optional[_Union[DayQuota, _Mapping]] = ...) -> None: ...

class DayQuota(_message.Message):
    __slots__ = ("team", "calls", "tokens")
    TEAM_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    team: str
    calls: int
    tokens: int
    def __init__(self, team: _Optional[str] = ..., calls: _Optional[int] = ..., tokens: _Optional[int] = ...) -> None: ...

class PlanJob(_message.Message):
    __slots__ = ("schema", "run")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    schema: int
    run: str
    def __init__(self, schema: _Optional[int] = ..., run: _Optional[str] = ...) -> None: ...

class CaptionJob(_message.Message):
    __slots__ = ("schema", "run", "benchmark", "sample", "items", "cap")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    CAP_FIELD_NUMBER: _ClassVar[int]
    schema: int
    run: str
    benchmark: str
    sample: str
    items: _containers.RepeatedCompositeFieldContainer[Item]
    cap: TokenCap
    def __init__(self, schema: _Optional[int] = ..., run: _Optional[str] = ..., benchmark: _Optional[str] = ..., sample: _Optional[str] = ..., items: _Optional[_Iterable[_Union[Item, _Mapping]]] = ..., cap: _Optional[_Union[TokenCap, _Mapping]] = ...) -> None: ...

class ExamineJob(_message.Message):
    __slots__ = ("schema", "run", "benchmark", "sample", "caption", "items", "cap")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    CAPTION_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    CAP_FIELD_NUMBER: _ClassVar[int]
    schema: int
    run: str
    benchmark: str
    sample: str
    caption: Caption
    items: _containers.RepeatedCompositeFieldContainer[Item]
    cap: TokenCap
    def __init__(self, schema: _Optional[int] = ..., run: _Optional[str] = ..., benchmark: _Optional[str] = ..., sample: _Optional[str] = ..., caption: _Optional[_Union[Caption, _Mapping]] = ..., items: _Optional[_Iterable[_Union[Item, _Mapping]]] = ..., cap: _Optional[_Union[TokenCap, _Mapping]] = ...) -> None: ...

class Verdicts(_message.Message):
    __slots__ = ("schema", "run", "benchmark", "sample", "verdicts")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    schema: int
    run: str
    benchmark: str
    sample: str
    verdicts: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.Verdict]
    def __init__(self, schema: _Optional[int] = ..., run: _Optional[str] = ..., benchmark: _Optional[str] = ..., sample: _Optional[str] = ..., verdicts: _Optional[_Iterable[_Union[_outcome_pb2.Verdict, _Mapping]]] = ...) -> None: ...

class PlanMade(_message.Message):
    __slots__ = ("questions", "start", "asked", "shards")
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    SHARDS_FIELD_NUMBER: _ClassVar[int]
    questions: int
    start: int
    asked: int
    shards: int
    def __init__(self, questions: _Optional[int] = ..., start: _Optional[int] = ..., asked: _Optional[int] = ..., shards: _Optional[int] = ...) -> None: ...

class RunCancelled(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RunFailed(_message.Message):
    __slots__ = ("error", "start")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    error: str
    start: int
    def __init__(self, error: _Optional[str] = ..., start: _Optional[int] = ...) -> None: ...

class RunEnded(_message.Message):
    __slots__ = ("state", "error", "report")
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    state: _run_pb2.RunState
    error: str
    report: str
    def __init__(self, state: _Optional[_Union[_run_pb2.RunState, str]] = ..., error: _Optional[str] = ..., report: _Optional[str] = ...) -> None: ...

class RunEvent(_message.Message):
    __slots__ = ("schema", "run", "planned", "cancelled", "failed", "ended")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    PLANNED_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    schema: int
    run: str
    planned: PlanMade
    cancelled: RunCancelled
    failed: RunFailed
    ended: RunEnded
    def __init__(self, schema: _Optional[int] = ..., run: _Optional[str] = ..., planned: _Optional[_Union[PlanMade, _Mapping]] = ..., cancelled: _Optional[_Union[RunCancelled, _Mapping]] = ..., failed: _Optional[_Union[RunFailed, _Mapping]] = ..., ended: _Optional[_Union[RunEnded, _Mapping]] = ...) -> None: ...
