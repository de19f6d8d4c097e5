from caliper.api.evaluate.v1 import evaluate_pb2 as _evaluate_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SuiteState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUITE_STATE_UNSPECIFIED: _ClassVar[SuiteState]
    SUITE_STATE_ACTIVE: _ClassVar[SuiteState]
    SUITE_STATE_PAUSED: _ClassVar[SuiteState]
    SUITE_STATE_RETIRED: _ClassVar[SuiteState]

class EntryState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENTRY_STATE_UNSPECIFIED: _ClassVar[EntryState]
    ENTRY_STATE_REGISTERED: _ClassVar[EntryState]
    ENTRY_STATE_WAITING: _ClassVar[EntryState]
    ENTRY_STATE_EVALUATING: _ClassVar[EntryState]
    ENTRY_STATE_EVALUATED: _ClassVar[EntryState]
    ENTRY_STATE_PASSED: _ClassVar[EntryState]
    ENTRY_STATE_REGRESSED: _ClassVar[EntryState]
    ENTRY_STATE_INCONCLUSIVE: _ClassVar[EntryState]
    ENTRY_STATE_FAILED: _ClassVar[EntryState]
    ENTRY_STATE_SOURCE_GONE: _ClassVar[EntryState]
    ENTRY_STATE_SKIPPED: _ClassVar[EntryState]
SUITE_STATE_UNSPECIFIED: SuiteState
SUITE_STATE_ACTIVE: SuiteState
SUITE_STATE_PAUSED: SuiteState
SUITE_STATE_RETIRED: SuiteState
ENTRY_STATE_UNSPECIFIED: EntryState
ENTRY_STATE_REGISTERED: EntryState
ENTRY_STATE_WAITING: EntryState
ENTRY_STATE_EVALUATING: EntryState
ENTRY_STATE_EVALUATED: EntryState
ENTRY_STATE_PASSED: EntryState
ENTRY_STATE_REGRESSED: EntryState
ENTRY_STATE_INCONCLUSIVE: EntryState
ENTRY_STATE_FAILED: EntryState
ENTRY_STATE_SOURCE_GONE: EntryState
ENTRY_STATE_SKIPPED: EntryState

class Suite(_message.Message):
    __slots__ = ("name", "version", "baseline", "values", "priority", "keep", "step")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    baseline: str
    values: str
    priority: _evaluate_pb2.Priority
    keep: int
    step: str
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., baseline: _Optional[str] = ..., values: _Optional[str] = ..., priority: _Optional[_Union[_evaluate_pb2.Priority, str]] = ..., keep: _Optional[int] = ..., step: _Optional[str] = ...) -> None: ...

class SuiteRecord(_message.Message):
    __slots__ = ("suite", "state", "applied")
    SUITE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    suite: Suite
    state: SuiteState
    applied: str
    def __init__(self, suite: _Optional[_Union[Suite, _Mapping]] = ..., state: _Optional[_Union[SuiteState, str]] = ..., applied: _Optional[str] = ...) -> None: ...

class ApplySuiteRequest(_message.Message):
    __slots__ = ("suite",)
    SUITE_FIELD_NUMBER: _ClassVar[int]
    suite: Suite
    def __init__(self, suite: _Optional[_Union[Suite, _Mapping]] = ...) -> None: ...

class ApplySuiteResponse(_message.Message):
    __slots__ = ("record", "created")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    record: SuiteRecord
    created: bool
    def __init__(self, record: _Optional[_Union[SuiteRecord, _Mapping]] = ..., created: _Optional[bool] = ...) -> None: ...

class ListSuitesRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSuitesResponse(_message.Message):
    __slots__ = ("records", "unreadable", "next_page_token")
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    records: _containers.RepeatedCompositeFieldContainer[SuiteRecord]
    unreadable: _containers.RepeatedScalarFieldContainer[str]
    next_page_token: str
    def __init__(self, records: _Optional[_Iterable[_Union[SuiteRecord, _Mapping]]] = ..., unreadable: _Optional[_Iterable[str]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetSuiteRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetSuiteResponse(_message.Message):
    __slots__ = ("record",)
    RECORD_FIELD_NUMBER: _ClassVar[int]
    record: SuiteRecord
    def __init__(self, record: _Optional[_Union[SuiteRecord, _Mapping]] = ...) -> None: ...

class PauseSuiteRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class PauseSuiteResponse(_message.Message):
    __slots__ = ("record",)
    RECORD_FIELD_NUMBER: _ClassVar[int]
    record: SuiteRecord
    def __init__(self, record: _Optional[_Union[SuiteRecord, _Mapping]] = ...) -> None: ...

class ResumeSuiteRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class ResumeSuiteResponse(_message.Message):
    __slots__ = ("record",)
    RECORD_FIELD_NUMBER: _ClassVar[int]
    record: SuiteRecord
    def __init__(self, record: _Optional[_Union[SuiteRecord, _Mapping]] = ...) -> None: ...

class RetireSuiteRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class RetireSuiteResponse(_message.Message):
    __slots__ = ("record",)
    RECORD_FIELD_NUMBER: _ClassVar[int]
    record: SuiteRecord
    def __init__(self, record: _Optional[_Union[SuiteRecord, _Mapping]] = ...) -> None: ...

class Checkpoint(_message.Message):
    __slots__ = ("source", "revision", "name", "step", "tags", "is_digest", "appeared")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    IS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    APPEARED_FIELD_NUMBER: _ClassVar[int]
    source: str
    revision: str
    name: str
    step: int
    tags: _containers.RepeatedScalarFieldContainer[str]
    is_digest: bool
    appeared: str
    def __init__(self, source: _Optional[str] = ..., revision: _Optional[str] = ..., name: _Optional[str] = ..., step: _Optional[int] = ..., tags: _Optional[_Iterable[str]] = ..., is_digest: _Optional[bool] = ..., appeared: _Optional[str] = ...) -> None: ...

class Figure(_message.Message):
    __slots__ = ("benchmark", "path", "value", "low", "high", "is_headline")
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    IS_HEADLINE_FIELD_NUMBER: _ClassVar[int]
    benchmark: str
    path: str
    value: float
    low: float
    high: float
    is_headline: bool
    def __init__(self, benchmark: _Optional[str] = ..., path: _Optional[str] = ..., value: _Optional[float] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., is_headline: _Optional[bool] = ...) -> None: ...

class Entry(_message.Message):
    __slots__ = ("suite", "version", "checkpoint", "registered", "since", "state", "attempts", "crashes", "reason", "run", "is_complete", "baseline", "figures", "findings", "calls", "tokens", "asked", "saved", "round", "claims", "claimed", "started", "marks", "money", "reused", "is_improved")
    SUITE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    CRASHES_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    IS_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    BASELINE_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    SAVED_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    CLAIMS_FIELD_NUMBER: _ClassVar[int]
    CLAIMED_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    MONEY_FIELD_NUMBER: _ClassVar[int]
    REUSED_FIELD_NUMBER: _ClassVar[int]
    IS_IMPROVED_FIELD_NUMBER: _ClassVar[int]
    suite: str
    version: str
    checkpoint: Checkpoint
    registered: str
    since: str
    state: EntryState
    attempts: int
    crashes: int
    reason: str
    run: str
    is_complete: bool
    baseline: str
    figures: _containers.RepeatedCompositeFieldContainer[Figure]
    findings: _containers.RepeatedScalarFieldContainer[str]
    calls: int
    tokens: int
    asked: int
    saved: int
    round: int
    claims: int
    claimed: str
    started: str
    marks: _containers.RepeatedScalarFieldContainer[str]
    money: float
    reused: int
    is_improved: bool
    def __init__(self, suite: _Optional[str] = ..., version: _Optional[str] = ..., checkpoint: _Optional[_Union[Checkpoint, _Mapping]] = ..., registered: _Optional[str] = ..., since: _Optional[str] = ..., state: _Optional[_Union[EntryState, str]] = ..., attempts: _Optional[int] = ..., crashes: _Optional[int] = ..., reason: _Optional[str] = ..., run: _Optional[str] = ..., is_complete: _Optional[bool] = ..., baseline: _Optional[str] = ..., figures: _Optional[_Iterable[_Union[Figure, _Mapping]]] = ..., findings: _Optional[_Iterable[str]] = ..., calls: _Optional[int] = ..., tokens: _Optional[int] = ..., asked: _Optional[int] = ..., saved: _Optional[int] = ..., round: _Optional[int] = ..., claims: _Optional[int] = ..., claimed: _Optional[str] = ..., started: _Optional[str] = ..., marks: _Optional[_Iterable[str]] = ..., money: _Optional[float] = ..., reused: _Optional[int] = ..., is_improved: _Optional[bool] = ...) -> None: ...

class RegisterCheckpointRequest(_message.Message):
    __slots__ = ("checkpoint", "suites")
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    SUITES_FIELD_NUMBER: _ClassVar[int]
    checkpoint: Checkpoint
    suites: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, checkpoint: _Optional[_Union[Checkpoint, _Mapping]] = ..., suites: _Optional[_Iterable[str]] = ...) -> None: ...

class Registration(_message.Message):
    __slots__ = ("entry", "created")
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    entry: Entry
    created: bool
    def __init__(self, entry: _Optional[_Union[Entry, _Mapping]] = ..., created: _Optional[bool] = ...) -> None: ...

class RegisterCheckpointResponse(_message.Message):
    __slots__ = ("registrations",)
    REGISTRATIONS_FIELD_NUMBER: _ClassVar[int]
    registrations: _containers.RepeatedCompositeFieldContainer[Registration]
    def __init__(self, registrations: _Optional[_Iterable[_Union[Registration, _Mapping]]] = ...) -> None: ...

class ListCheckpointsRequest(_message.Message):
    __slots__ = ("suites", "page_size", "page_token", "whole")
    SUITES_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WHOLE_FIELD_NUMBER: _ClassVar[int]
    suites: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    whole: bool
    def __init__(self, suites: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., whole: _Optional[bool] = ...) -> None: ...

class ListCheckpointsResponse(_message.Message):
    __slots__ = ("entries", "unreadable", "next_page_token")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Entry]
    unreadable: _containers.RepeatedScalarFieldContainer[str]
    next_page_token: str
    def __init__(self, entries: _Optional[_Iterable[_Union[Entry, _Mapping]]] = ..., unreadable: _Optional[_Iterable[str]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetCheckpointRequest(_message.Message):
    __slots__ = ("checkpoint", "suites")
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    SUITES_FIELD_NUMBER: _ClassVar[int]
    checkpoint: str
    suites: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, checkpoint: _Optional[str] = ..., suites: _Optional[_Iterable[str]] = ...) -> None: ...

class GetCheckpointResponse(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Entry]
    def __init__(self, entries: _Optional[_Iterable[_Union[Entry, _Mapping]]] = ...) -> None: ...

class RetryCheckpointRequest(_message.Message):
    __slots__ = ("checkpoint", "suites")
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    SUITES_FIELD_NUMBER: _ClassVar[int]
    checkpoint: str
    suites: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, checkpoint: _Optional[str] = ..., suites: _Optional[_Iterable[str]] = ...) -> None: ...

class RetryCheckpointResponse(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Entry]
    def __init__(self, entries: _Optional[_Iterable[_Union[Entry, _Mapping]]] = ...) -> None: ...

class SkipCheckpointRequest(_message.Message):
    __slots__ = ("checkpoint", "suites")
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    SUITES_FIELD_NUMBER: _ClassVar[int]
    checkpoint: str
    suites: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, checkpoint: _Optional[str] = ..., suites: _Optional[_Iterable[str]] = ...) -> None: ...

class SkipCheckpointResponse(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Entry]
    def __init__(self, entries: _Optional[_Iterable[_Union[Entry, _Mapping]]] = ...) -> None: ...

class Spending(_message.Message):
    __slots__ = ("calls", "tokens", "money")
    CALLS_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    MONEY_FIELD_NUMBER: _ClassVar[int]
    calls: int
    tokens: int
    money: float
    def __init__(self, calls: _Optional[int] = ..., tokens: _Optional[int] = ..., money: _Optional[float] = ...) -> None: ...

class GetAccountRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class GetAccountResponse(_message.Message):
    __slots__ = ("month", "spent", "reserved", "checkpoints")
    MONTH_FIELD_NUMBER: _ClassVar[int]
    SPENT_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINTS_FIELD_NUMBER: _ClassVar[int]
    month: str
    spent: Spending
    reserved: Spending
    checkpoints: int
    def __init__(self, month: _Optional[str] = ..., spent: _Optional[_Union[Spending, _Mapping]] = ..., reserved: _Optional[_Union[Spending, _Mapping]] = ..., checkpoints: _Optional[int] = ...) -> None: ...

class ListSlotsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListSlotsResponse(_message.Message):
    __slots__ = ("slots",)
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    slots: _containers.RepeatedCompositeFieldContainer[Slot]
    def __init__(self, slots: _Optional[_Iterable[_Union[Slot, _Mapping]]] = ...) -> None: ...

class Slot(_message.Message):
    __slots__ = ("name", "served", "queue")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    served: str
    queue: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., served: _Optional[str] = ..., queue: _Optional[_Iterable[str]] = ...) -> None: ...

class ListNoticesRequest(_message.Message):
    __slots__ = ("suite", "ids", "page_size", "page_token")
    SUITE_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    suite: str
    ids: _containers.RepeatedScalarFieldContainer[str]
    page_size: int
    page_token: str
    def __init__(self, suite: _Optional[str] = ..., ids: _Optional[_Iterable[str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListNoticesResponse(_message.Message):
    __slots__ = ("notices", "next_page_token")
    NOTICES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    notices: _containers.RepeatedCompositeFieldContainer[Notice]
    next_page_token: str
    def __init__(self, notices: _Optional[_Iterable[_Union[Notice, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class Notice(_message.Message):
    __slots__ = ("id", "kind", "time", "version", "checkpoint", "revision", "state", "deliveries", "step", "figures")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DELIVERIES_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    time: str
    version: str
    checkpoint: str
    revision: str
    state: str
    deliveries: _containers.RepeatedCompositeFieldContainer[NoticeDelivery]
    step: int
    figures: _containers.RepeatedCompositeFieldContainer[Figure]
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., time: _Optional[str] = ..., version: _Optional[str] = ..., checkpoint: _Optional[str] = ..., revision: _Optional[str] = ..., state: _Optional[str] = ..., deliveries: _Optional[_Iterable[_Union[NoticeDelivery, _Mapping]]] = ..., step: _Optional[int] = ..., figures: _Optional[_Iterable[_Union[Figure, _Mapping]]] = ...) -> None: ...

class NoticeDelivery(_message.Message):
    __slots__ = ("target", "attempts", "delivered", "error")
    TARGET_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    target: str
    attempts: int
    delivered: str
    error: str
    def __init__(self, target: _Optional[str] = ..., attempts: _Optional[int] = ..., delivered: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class ReplayNoticeRequest(_message.Message):
    __slots__ = ("suite", "id")
    SUITE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    suite: str
    id: str
    def __init__(self, suite: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class ReplayNoticeResponse(_message.Message):
    __slots__ = ("notice",)
    NOTICE_FIELD_NUMBER: _ClassVar[int]
    notice: Notice
    def __init__(self, notice: _Optional[_Union[Notice, _Mapping]] = ...) -> None: ...

class ListProgressRequest(_message.Message):
    __slots__ = ("suite",)
    SUITE_FIELD_NUMBER: _ClassVar[int]
    suite: str
    def __init__(self, suite: _Optional[str] = ...) -> None: ...

class ListProgressResponse(_message.Message):
    __slots__ = ("progress",)
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    progress: _containers.RepeatedCompositeFieldContainer[EntryProgress]
    def __init__(self, progress: _Optional[_Iterable[_Union[EntryProgress, _Mapping]]] = ...) -> None: ...

class EntryProgress(_message.Message):
    __slots__ = ("revision", "seen", "done", "whole", "phase", "is_stuck")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SEEN_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    WHOLE_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    IS_STUCK_FIELD_NUMBER: _ClassVar[int]
    revision: str
    seen: str
    done: int
    whole: int
    phase: str
    is_stuck: bool
    def __init__(self, revision: _Optional[str] = ..., seen: _Optional[str] = ..., done: _Optional[int] = ..., whole: _Optional[int] = ..., phase: _Optional[str] = ..., is_stuck: _Optional[bool] = ...) -> None: ...
