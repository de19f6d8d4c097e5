from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Reason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REASON_UNSPECIFIED: _ClassVar[Reason]
    REASON_NO_CAPTION: _ClassVar[Reason]
    REASON_BAD_INPUT: _ClassVar[Reason]
    REASON_MEDIA_MISSING: _ClassVar[Reason]
    REASON_BAD_GROUND_TRUTH: _ClassVar[Reason]
    REASON_NO_REPLY: _ClassVar[Reason]
    REASON_REFUSED: _ClassVar[Reason]
    REASON_UNREADABLE: _ClassVar[Reason]
    REASON_TRUNCATED: _ClassVar[Reason]
    REASON_BACKEND: _ClassVar[Reason]
    REASON_TIMEOUT: _ClassVar[Reason]
    REASON_BUDGET: _ClassVar[Reason]
    REASON_INTERNAL: _ClassVar[Reason]
    REASON_NOT_DRAWN: _ClassVar[Reason]
REASON_UNSPECIFIED: Reason
REASON_NO_CAPTION: Reason
REASON_BAD_INPUT: Reason
REASON_MEDIA_MISSING: Reason
REASON_BAD_GROUND_TRUTH: Reason
REASON_NO_REPLY: Reason
REASON_REFUSED: Reason
REASON_UNREADABLE: Reason
REASON_TRUNCATED: Reason
REASON_BACKEND: Reason
REASON_TIMEOUT: Reason
REASON_BUDGET: Reason
REASON_INTERNAL: Reason
REASON_NOT_DRAWN: Reason

class Score(_message.Message):
    __slots__ = ("numerator", "denominator", "unmentioned", "exact", "labels")
    NUMERATOR_FIELD_NUMBER: _ClassVar[int]
    DENOMINATOR_FIELD_NUMBER: _ClassVar[int]
    UNMENTIONED_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    numerator: int
    denominator: int
    unmentioned: bool
    exact: str
    labels: int
    def __init__(self, numerator: _Optional[int] = ..., denominator: _Optional[int] = ..., unmentioned: _Optional[bool] = ..., exact: _Optional[str] = ..., labels: _Optional[int] = ...) -> None: ...

class Evidence(_message.Message):
    __slots__ = ("reply", "explanation", "repaired")
    REPLY_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    REPAIRED_FIELD_NUMBER: _ClassVar[int]
    reply: str
    explanation: str
    repaired: bool
    def __init__(self, reply: _Optional[str] = ..., explanation: _Optional[str] = ..., repaired: _Optional[bool] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ("index", "score", "unscored", "evidence")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    UNSCORED_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    index: int
    score: Score
    unscored: Reason
    evidence: Evidence
    def __init__(self, index: _Optional[int] = ..., score: _Optional[_Union[Score, _Mapping]] = ..., unscored: _Optional[_Union[Reason, str]] = ..., evidence: _Optional[_Union[Evidence, _Mapping]] = ...) -> None: ...

class VerdictRow(_message.Message):
    __slots__ = ("index", "benchmark", "dimension", "item", "sample", "cluster", "media", "question_id", "question", "expected", "repeat", "outcome", "score", "reason", "explanation", "reply", "repaired", "judge")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    ITEM_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    QUESTION_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_FIELD_NUMBER: _ClassVar[int]
    REPEAT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    REPAIRED_FIELD_NUMBER: _ClassVar[int]
    JUDGE_FIELD_NUMBER: _ClassVar[int]
    index: int
    benchmark: str
    dimension: str
    item: str
    sample: str
    cluster: str
    media: _containers.RepeatedScalarFieldContainer[str]
    question_id: str
    question: str
    expected: str
    repeat: int
    outcome: str
    score: float
    reason: Reason
    explanation: str
    reply: str
    repaired: bool
    judge: str
    def __init__(self, index: _Optional[int] = ..., benchmark: _Optional[str] = ..., dimension: _Optional[str] = ..., item: _Optional[str] = ..., sample: _Optional[str] = ..., cluster: _Optional[str] = ..., media: _Optional[_Iterable[str]] = ..., question_id: _Optional[str] = ..., question: _Optional[str] = ..., expected: _Optional[str] = ..., repeat: _Optional[int] = ..., outcome: _Optional[str] = ..., score: _Optional[float] = ..., reason: _Optional[_Union[Reason, str]] = ..., explanation: _Optional[str] = ..., reply: _Optional[str] = ..., repaired: _Optional[bool] = ..., judge: _Optional[str] = ...) -> None: ...

class Estimate(_message.Message):
    __slots__ = ("path", "value", "low", "high", "method")
    PATH_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    path: _containers.RepeatedScalarFieldContainer[str]
    value: float
    low: float
    high: float
    method: str
    def __init__(self, path: _Optional[_Iterable[str]] = ..., value: _Optional[float] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., method: _Optional[str] = ...) -> None: ...

class Unscored(_message.Message):
    __slots__ = ("reason", "count")
    REASON_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    reason: Reason
    count: int
    def __init__(self, reason: _Optional[_Union[Reason, str]] = ..., count: _Optional[int] = ...) -> None: ...

class Coverage(_message.Message):
    __slots__ = ("planned", "scored", "unscored")
    PLANNED_FIELD_NUMBER: _ClassVar[int]
    SCORED_FIELD_NUMBER: _ClassVar[int]
    UNSCORED_FIELD_NUMBER: _ClassVar[int]
    planned: int
    scored: int
    unscored: _containers.RepeatedCompositeFieldContainer[Unscored]
    def __init__(self, planned: _Optional[int] = ..., scored: _Optional[int] = ..., unscored: _Optional[_Iterable[_Union[Unscored, _Mapping]]] = ...) -> None: ...

class BenchmarkScores(_message.Message):
    __slots__ = ("benchmark", "coverage", "figures", "notes", "lacking")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    LACKING_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    coverage: Coverage
    figures: _containers.RepeatedCompositeFieldContainer[Estimate]
    notes: _containers.RepeatedScalarFieldContainer[str]
    lacking: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, benchmark: _Optional[str] = ..., coverage: _Optional[_Union[Coverage, _Mapping]] = ..., figures: _Optional[_Iterable[_Union[Estimate, _Mapping]]] = ..., notes: _Optional[_Iterable[str]] = ..., lacking: _Optional[_Iterable[str]] = ...) -> None: ...
