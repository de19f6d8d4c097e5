import datetime

from caliper.api.types.v1 import outcome_pb2 as _outcome_pb2
from caliper.api.types.v1 import run_pb2 as _run_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Priority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRIORITY_UNSPECIFIED: _ClassVar[Priority]
    PRIORITY_LOW: _ClassVar[Priority]
    PRIORITY_NORMAL: _ClassVar[Priority]
    PRIORITY_HIGH: _ClassVar[Priority]
PRIORITY_UNSPECIFIED: Priority
PRIORITY_LOW: Priority
PRIORITY_NORMAL: Priority
PRIORITY_HIGH: Priority

class BenchmarkRequest(_message.Message):
    __slots__ = ("name", "data", "captions", "captioner", "qa_data", "prompt", "settings", "repeats", "judge", "reader", "media", "preparation", "taxonomy", "qa_replies", "caption_tokens", "data_name")
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
    PREPARATION_FIELD_NUMBER: _ClassVar[int]
    TAXONOMY_FIELD_NUMBER: _ClassVar[int]
    QA_REPLIES_FIELD_NUMBER: _ClassVar[int]
    CAPTION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DATA_NAME_FIELD_NUMBER: _ClassVar[int]
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
    preparation: _run_pb2.Preparation
    taxonomy: _containers.RepeatedCompositeFieldContainer[_run_pb2.TaxonomyOfDomain]
    qa_replies: str
    caption_tokens: int
    data_name: str
    def __init__(self, name: _Optional[str] = ..., data: _Optional[str] = ..., captions: _Optional[str] = ..., captioner: _Optional[str] = ..., qa_data: _Optional[str] = ..., prompt: _Optional[str] = ..., settings: _Optional[_Mapping[str, str]] = ..., repeats: _Optional[int] = ..., judge: _Optional[str] = ..., reader: _Optional[str] = ..., media: _Optional[str] = ..., preparation: _Optional[_Union[_run_pb2.Preparation, _Mapping]] = ..., taxonomy: _Optional[_Iterable[_Union[_run_pb2.TaxonomyOfDomain, _Mapping]]] = ..., qa_replies: _Optional[str] = ..., caption_tokens: _Optional[int] = ..., data_name: _Optional[str] = ...) -> None: ...

class StartEvaluationRequest(_message.Message):
    __slots__ = ("name", "benchmarks", "seed", "limit", "replicate", "coverage_floor", "client_key", "max_calls", "max_tokens", "share_replies", "priority", "judge_share", "judging", "suite")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BENCHMARKS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REPLICATE_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FLOOR_FIELD_NUMBER: _ClassVar[int]
    CLIENT_KEY_FIELD_NUMBER: _ClassVar[int]
    MAX_CALLS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SHARE_REPLIES_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    JUDGE_SHARE_FIELD_NUMBER: _ClassVar[int]
    JUDGING_FIELD_NUMBER: _ClassVar[int]
    SUITE_FIELD_NUMBER: _ClassVar[int]
    name: str
    benchmarks: _containers.RepeatedCompositeFieldContainer[BenchmarkRequest]
    seed: int
    limit: int
    replicate: int
    coverage_floor: float
    client_key: str
    max_calls: int
    max_tokens: int
    share_replies: bool
    priority: Priority
    judge_share: float
    judging: StopCriterion
    suite: str
    def __init__(self, name: _Optional[str] = ..., benchmarks: _Optional[_Iterable[_Union[BenchmarkRequest, _Mapping]]] = ..., seed: _Optional[int] = ..., limit: _Optional[int] = ..., replicate: _Optional[int] = ..., coverage_floor: _Optional[float] = ..., client_key: _Optional[str] = ..., max_calls: _Optional[int] = ..., max_tokens: _Optional[int] = ..., share_replies: _Optional[bool] = ..., priority: _Optional[_Union[Priority, str]] = ..., judge_share: _Optional[float] = ..., judging: _Optional[_Union[StopCriterion, _Mapping]] = ..., suite: _Optional[str] = ...) -> None: ...

class StopCriterion(_message.Message):
    __slots__ = ("base", "policy", "margin", "level", "repeats", "rules", "alarm_level", "similar")
    BASE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    MARGIN_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    ALARM_LEVEL_FIELD_NUMBER: _ClassVar[int]
    SIMILAR_FIELD_NUMBER: _ClassVar[int]
    base: str
    policy: GatePolicy
    margin: float
    level: float
    repeats: str
    rules: str
    alarm_level: float
    similar: bool
    def __init__(self, base: _Optional[str] = ..., policy: _Optional[_Union[GatePolicy, _Mapping]] = ..., margin: _Optional[float] = ..., level: _Optional[float] = ..., repeats: _Optional[str] = ..., rules: _Optional[str] = ..., alarm_level: _Optional[float] = ..., similar: _Optional[bool] = ...) -> None: ...

class GatePolicy(_message.Message):
    __slots__ = ("checks", "level", "min_coverage")
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MIN_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    checks: _containers.RepeatedCompositeFieldContainer[GateCheck]
    level: float
    min_coverage: float
    def __init__(self, checks: _Optional[_Iterable[_Union[GateCheck, _Mapping]]] = ..., level: _Optional[float] = ..., min_coverage: _Optional[float] = ...) -> None: ...

class GateCheck(_message.Message):
    __slots__ = ("benchmark", "figure", "tier", "max_drop", "max_relative_drop", "min_pairs")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    FIGURE_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    MAX_DROP_FIELD_NUMBER: _ClassVar[int]
    MAX_RELATIVE_DROP_FIELD_NUMBER: _ClassVar[int]
    MIN_PAIRS_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    figure: str
    tier: str
    max_drop: float
    max_relative_drop: float
    min_pairs: int
    def __init__(self, benchmark: _Optional[str] = ..., figure: _Optional[str] = ..., tier: _Optional[str] = ..., max_drop: _Optional[float] = ..., max_relative_drop: _Optional[float] = ..., min_pairs: _Optional[int] = ...) -> None: ...

class StartEvaluationResponse(_message.Message):
    __slots__ = ("evaluation", "created")
    EVALUATION_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    evaluation: Evaluation
    created: bool
    def __init__(self, evaluation: _Optional[_Union[Evaluation, _Mapping]] = ..., created: _Optional[bool] = ...) -> None: ...

class Evaluation(_message.Message):
    __slots__ = ("run", "state", "spec", "started", "benchmarks", "error", "ended", "reuse")
    RUN_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    BENCHMARKS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    REUSE_FIELD_NUMBER: _ClassVar[int]
    run: str
    state: _run_pb2.RunState
    spec: _run_pb2.RunSpec
    started: _timestamp_pb2.Timestamp
    benchmarks: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.BenchmarkScores]
    error: str
    ended: _timestamp_pb2.Timestamp
    reuse: Reuse
    def __init__(self, run: _Optional[str] = ..., state: _Optional[_Union[_run_pb2.RunState, str]] = ..., spec: _Optional[_Union[_run_pb2.RunSpec, _Mapping]] = ..., started: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., benchmarks: _Optional[_Iterable[_Union[_outcome_pb2.BenchmarkScores, _Mapping]]] = ..., error: _Optional[str] = ..., ended: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reuse: _Optional[_Union[Reuse, _Mapping]] = ...) -> None: ...

class Reuse(_message.Message):
    __slots__ = ("captions", "of_captions", "verdicts", "of_verdicts")
    CAPTIONS_FIELD_NUMBER: _ClassVar[int]
    OF_CAPTIONS_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    OF_VERDICTS_FIELD_NUMBER: _ClassVar[int]
    captions: int
    of_captions: int
    verdicts: int
    of_verdicts: int
    def __init__(self, captions: _Optional[int] = ..., of_captions: _Optional[int] = ..., verdicts: _Optional[int] = ..., of_verdicts: _Optional[int] = ...) -> None: ...

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

class UploadDatasetRequest(_message.Message):
    __slots__ = ("header", "medium", "content")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    MEDIUM_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    header: DatasetHeader
    medium: DatasetFile
    content: DatasetContent
    def __init__(self, header: _Optional[_Union[DatasetHeader, _Mapping]] = ..., medium: _Optional[_Union[DatasetFile, _Mapping]] = ..., content: _Optional[_Union[DatasetContent, _Mapping]] = ...) -> None: ...

class DatasetHeader(_message.Message):
    __slots__ = ("benchmark", "name", "files", "folder", "replies")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    REPLIES_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    name: str
    files: _containers.RepeatedCompositeFieldContainer[DatasetFile]
    folder: bool
    replies: bool
    def __init__(self, benchmark: _Optional[str] = ..., name: _Optional[str] = ..., files: _Optional[_Iterable[_Union[DatasetFile, _Mapping]]] = ..., folder: _Optional[bool] = ..., replies: _Optional[bool] = ...) -> None: ...

class DatasetFile(_message.Message):
    __slots__ = ("name", "sha256")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    name: str
    sha256: str
    def __init__(self, name: _Optional[str] = ..., sha256: _Optional[str] = ...) -> None: ...

class DatasetContent(_message.Message):
    __slots__ = ("sha256", "data", "offset")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    sha256: str
    data: bytes
    offset: int
    def __init__(self, sha256: _Optional[str] = ..., data: _Optional[bytes] = ..., offset: _Optional[int] = ...) -> None: ...

class PartialContent(_message.Message):
    __slots__ = ("sha256", "offset")
    SHA256_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    sha256: str
    offset: int
    def __init__(self, sha256: _Optional[str] = ..., offset: _Optional[int] = ...) -> None: ...

class UploadDatasetResponse(_message.Message):
    __slots__ = ("dataset", "missing", "partial")
    DATASET_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    missing: _containers.RepeatedScalarFieldContainer[str]
    partial: _containers.RepeatedCompositeFieldContainer[PartialContent]
    def __init__(self, dataset: _Optional[str] = ..., missing: _Optional[_Iterable[str]] = ..., partial: _Optional[_Iterable[_Union[PartialContent, _Mapping]]] = ...) -> None: ...

class ListDatasetsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDatasetsResponse(_message.Message):
    __slots__ = ("datasets", "next_page_token")
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    datasets: _containers.RepeatedCompositeFieldContainer[NamedDataset]
    next_page_token: str
    def __init__(self, datasets: _Optional[_Iterable[_Union[NamedDataset, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class NamedDataset(_message.Message):
    __slots__ = ("name", "dataset", "benchmark")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    name: str
    dataset: str
    benchmark: str
    def __init__(self, name: _Optional[str] = ..., dataset: _Optional[str] = ..., benchmark: _Optional[str] = ...) -> None: ...

class ListQuotasRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListQuotasResponse(_message.Message):
    __slots__ = ("quotas",)
    QUOTAS_FIELD_NUMBER: _ClassVar[int]
    quotas: _containers.RepeatedCompositeFieldContainer[QuotaUse]
    def __init__(self, quotas: _Optional[_Iterable[_Union[QuotaUse, _Mapping]]] = ...) -> None: ...

class QuotaUse(_message.Message):
    __slots__ = ("team", "name", "used", "limit", "frees")
    TEAM_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    FREES_FIELD_NUMBER: _ClassVar[int]
    team: str
    name: str
    used: int
    limit: int
    frees: str
    def __init__(self, team: _Optional[str] = ..., name: _Optional[str] = ..., used: _Optional[int] = ..., limit: _Optional[int] = ..., frees: _Optional[str] = ...) -> None: ...

class GetLookRequest(_message.Message):
    __slots__ = ("base", "run", "policy")
    BASE_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    base: str
    run: str
    policy: GatePolicy
    def __init__(self, base: _Optional[str] = ..., run: _Optional[str] = ..., policy: _Optional[_Union[GatePolicy, _Mapping]] = ...) -> None: ...

class GetLookResponse(_message.Message):
    __slots__ = ("look",)
    LOOK_FIELD_NUMBER: _ClassVar[int]
    look: Look
    def __init__(self, look: _Optional[_Union[Look, _Mapping]] = ...) -> None: ...

class Look(_message.Message):
    __slots__ = ("finding", "difference", "low", "high", "needed_more", "checks", "open_strata", "reason")
    FINDING_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    NEEDED_MORE_FIELD_NUMBER: _ClassVar[int]
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    OPEN_STRATA_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    finding: str
    difference: float
    low: float
    high: float
    needed_more: int
    checks: _containers.RepeatedCompositeFieldContainer[CheckLook]
    open_strata: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    def __init__(self, finding: _Optional[str] = ..., difference: _Optional[float] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., needed_more: _Optional[int] = ..., checks: _Optional[_Iterable[_Union[CheckLook, _Mapping]]] = ..., open_strata: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ...) -> None: ...

class CheckLook(_message.Message):
    __slots__ = ("name", "finding", "difference", "low", "high", "margin", "drawn", "questions", "discordant", "needed_more", "p_regressed", "p_passed", "reused", "similar")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FINDING_FIELD_NUMBER: _ClassVar[int]
    DIFFERENCE_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    MARGIN_FIELD_NUMBER: _ClassVar[int]
    DRAWN_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    DISCORDANT_FIELD_NUMBER: _ClassVar[int]
    NEEDED_MORE_FIELD_NUMBER: _ClassVar[int]
    P_REGRESSED_FIELD_NUMBER: _ClassVar[int]
    P_PASSED_FIELD_NUMBER: _ClassVar[int]
    REUSED_FIELD_NUMBER: _ClassVar[int]
    SIMILAR_FIELD_NUMBER: _ClassVar[int]
    name: str
    finding: str
    difference: float
    low: float
    high: float
    margin: float
    drawn: int
    questions: int
    discordant: int
    needed_more: int
    p_regressed: float
    p_passed: float
    reused: int
    similar: bool
    def __init__(self, name: _Optional[str] = ..., finding: _Optional[str] = ..., difference: _Optional[float] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., margin: _Optional[float] = ..., drawn: _Optional[int] = ..., questions: _Optional[int] = ..., discordant: _Optional[int] = ..., needed_more: _Optional[int] = ..., p_regressed: _Optional[float] = ..., p_passed: _Optional[float] = ..., reused: _Optional[int] = ..., similar: _Optional[bool] = ...) -> None: ...

class CompareEvaluationsRequest(_message.Message):
    __slots__ = ("runs", "anyway", "partial", "flips", "pictures")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    ANYWAY_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    FLIPS_FIELD_NUMBER: _ClassVar[int]
    PICTURES_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedScalarFieldContainer[str]
    anyway: bool
    partial: bool
    flips: int
    pictures: bool
    def __init__(self, runs: _Optional[_Iterable[str]] = ..., anyway: _Optional[bool] = ..., partial: _Optional[bool] = ..., flips: _Optional[int] = ..., pictures: _Optional[bool] = ...) -> None: ...

class CompareEvaluationsResponse(_message.Message):
    __slots__ = ("base", "candidate", "flip", "picture")
    BASE_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_FIELD_NUMBER: _ClassVar[int]
    FLIP_FIELD_NUMBER: _ClassVar[int]
    PICTURE_FIELD_NUMBER: _ClassVar[int]
    base: ComparedRun
    candidate: ComparedCandidate
    flip: Flip
    picture: Picture
    def __init__(self, base: _Optional[_Union[ComparedRun, _Mapping]] = ..., candidate: _Optional[_Union[ComparedCandidate, _Mapping]] = ..., flip: _Optional[_Union[Flip, _Mapping]] = ..., picture: _Optional[_Union[Picture, _Mapping]] = ...) -> None: ...

class ComparedRun(_message.Message):
    __slots__ = ("run", "name", "state", "coverage", "stuffed")
    RUN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    STUFFED_FIELD_NUMBER: _ClassVar[int]
    run: str
    name: str
    state: _run_pb2.RunState
    coverage: _containers.RepeatedCompositeFieldContainer[CoverageOfBenchmark]
    stuffed: _containers.RepeatedCompositeFieldContainer[StuffedBenchmark]
    def __init__(self, run: _Optional[str] = ..., name: _Optional[str] = ..., state: _Optional[_Union[_run_pb2.RunState, str]] = ..., coverage: _Optional[_Iterable[_Union[CoverageOfBenchmark, _Mapping]]] = ..., stuffed: _Optional[_Iterable[_Union[StuffedBenchmark, _Mapping]]] = ...) -> None: ...

class StuffedBenchmark(_message.Message):
    __slots__ = ("benchmark", "share")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    share: float
    def __init__(self, benchmark: _Optional[str] = ..., share: _Optional[float] = ...) -> None: ...

class CoverageOfBenchmark(_message.Message):
    __slots__ = ("benchmark", "coverage")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    coverage: _outcome_pb2.Coverage
    def __init__(self, benchmark: _Optional[str] = ..., coverage: _Optional[_Union[_outcome_pb2.Coverage, _Mapping]] = ...) -> None: ...

class ComparedCandidate(_message.Message):
    __slots__ = ("run", "differing", "benchmarks", "better", "worse", "same", "unpaired")
    RUN_FIELD_NUMBER: _ClassVar[int]
    DIFFERING_FIELD_NUMBER: _ClassVar[int]
    BENCHMARKS_FIELD_NUMBER: _ClassVar[int]
    BETTER_FIELD_NUMBER: _ClassVar[int]
    WORSE_FIELD_NUMBER: _ClassVar[int]
    SAME_FIELD_NUMBER: _ClassVar[int]
    UNPAIRED_FIELD_NUMBER: _ClassVar[int]
    run: ComparedRun
    differing: _containers.RepeatedCompositeFieldContainer[Distinction]
    benchmarks: _containers.RepeatedCompositeFieldContainer[ComparedBenchmark]
    better: int
    worse: int
    same: int
    unpaired: int
    def __init__(self, run: _Optional[_Union[ComparedRun, _Mapping]] = ..., differing: _Optional[_Iterable[_Union[Distinction, _Mapping]]] = ..., benchmarks: _Optional[_Iterable[_Union[ComparedBenchmark, _Mapping]]] = ..., better: _Optional[int] = ..., worse: _Optional[int] = ..., same: _Optional[int] = ..., unpaired: _Optional[int] = ...) -> None: ...

class Distinction(_message.Message):
    __slots__ = ("benchmark", "kind", "name", "first", "second")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    SECOND_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    kind: str
    name: str
    first: str
    second: str
    def __init__(self, benchmark: _Optional[str] = ..., kind: _Optional[str] = ..., name: _Optional[str] = ..., first: _Optional[str] = ..., second: _Optional[str] = ...) -> None: ...

class ComparedBenchmark(_message.Message):
    __slots__ = ("benchmark", "title", "figures", "column", "rows", "shares")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SHARES_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    title: str
    figures: _containers.RepeatedCompositeFieldContainer[Difference]
    column: str
    rows: _containers.RepeatedCompositeFieldContainer[ComparedRow]
    shares: _containers.RepeatedCompositeFieldContainer[ScoredShares]
    def __init__(self, benchmark: _Optional[str] = ..., title: _Optional[str] = ..., figures: _Optional[_Iterable[_Union[Difference, _Mapping]]] = ..., column: _Optional[str] = ..., rows: _Optional[_Iterable[_Union[ComparedRow, _Mapping]]] = ..., shares: _Optional[_Iterable[_Union[ScoredShares, _Mapping]]] = ...) -> None: ...

class ScoredShares(_message.Message):
    __slots__ = ("figure", "base", "candidate")
    FIGURE_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_FIELD_NUMBER: _ClassVar[int]
    figure: int
    base: float
    candidate: float
    def __init__(self, figure: _Optional[int] = ..., base: _Optional[float] = ..., candidate: _Optional[float] = ...) -> None: ...

class ComparedRow(_message.Message):
    __slots__ = ("label", "figure")
    LABEL_FIELD_NUMBER: _ClassVar[int]
    FIGURE_FIELD_NUMBER: _ClassVar[int]
    label: str
    figure: int
    def __init__(self, label: _Optional[str] = ..., figure: _Optional[int] = ...) -> None: ...

class Difference(_message.Message):
    __slots__ = ("path", "first", "second", "value", "low", "high", "method", "clusters", "paired", "error", "p", "adjusted", "detectable", "whole", "alike", "most", "skew", "degrees", "over", "without")
    PATH_FIELD_NUMBER: _ClassVar[int]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    SECOND_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    CLUSTERS_FIELD_NUMBER: _ClassVar[int]
    PAIRED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    P_FIELD_NUMBER: _ClassVar[int]
    ADJUSTED_FIELD_NUMBER: _ClassVar[int]
    DETECTABLE_FIELD_NUMBER: _ClassVar[int]
    WHOLE_FIELD_NUMBER: _ClassVar[int]
    ALIKE_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    SKEW_FIELD_NUMBER: _ClassVar[int]
    DEGREES_FIELD_NUMBER: _ClassVar[int]
    OVER_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_FIELD_NUMBER: _ClassVar[int]
    path: _containers.RepeatedScalarFieldContainer[str]
    first: float
    second: float
    value: float
    low: float
    high: float
    method: str
    clusters: int
    paired: int
    error: float
    p: float
    adjusted: float
    detectable: float
    whole: bool
    alike: float
    most: float
    skew: float
    degrees: int
    over: _containers.RepeatedScalarFieldContainer[str]
    without: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, path: _Optional[_Iterable[str]] = ..., first: _Optional[float] = ..., second: _Optional[float] = ..., value: _Optional[float] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., method: _Optional[str] = ..., clusters: _Optional[int] = ..., paired: _Optional[int] = ..., error: _Optional[float] = ..., p: _Optional[float] = ..., adjusted: _Optional[float] = ..., detectable: _Optional[float] = ..., whole: _Optional[bool] = ..., alike: _Optional[float] = ..., most: _Optional[float] = ..., skew: _Optional[float] = ..., degrees: _Optional[int] = ..., over: _Optional[_Iterable[str]] = ..., without: _Optional[_Iterable[str]] = ...) -> None: ...

class Flip(_message.Message):
    __slots__ = ("before", "after", "caption_before", "caption_after")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    CAPTION_BEFORE_FIELD_NUMBER: _ClassVar[int]
    CAPTION_AFTER_FIELD_NUMBER: _ClassVar[int]
    before: _outcome_pb2.VerdictRow
    after: _outcome_pb2.VerdictRow
    caption_before: str
    caption_after: str
    def __init__(self, before: _Optional[_Union[_outcome_pb2.VerdictRow, _Mapping]] = ..., after: _Optional[_Union[_outcome_pb2.VerdictRow, _Mapping]] = ..., caption_before: _Optional[str] = ..., caption_after: _Optional[str] = ...) -> None: ...

class Picture(_message.Message):
    __slots__ = ("benchmark", "media", "jpeg")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    JPEG_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    media: str
    jpeg: bytes
    def __init__(self, benchmark: _Optional[str] = ..., media: _Optional[str] = ..., jpeg: _Optional[bytes] = ...) -> None: ...
