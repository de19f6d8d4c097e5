from caliper.api.types.v1 import outcome_pb2 as _outcome_pb2
from caliper.api.types.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AnswerRequest(_message.Message):
    __slots__ = ("row", "caption", "settings", "seed", "repeats", "benchmark")
    class SettingsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ROW_FIELD_NUMBER: _ClassVar[int]
    CAPTION_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    row: str
    caption: str
    settings: _containers.ScalarMap[str, str]
    seed: int
    repeats: int
    benchmark: str
    def __init__(self, row: _Optional[str] = ..., caption: _Optional[str] = ..., settings: _Optional[_Mapping[str, str]] = ..., seed: _Optional[int] = ..., repeats: _Optional[int] = ..., benchmark: _Optional[str] = ...) -> None: ...

class AnswerResponse(_message.Message):
    __slots__ = ("verdicts",)
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    verdicts: _containers.RepeatedCompositeFieldContainer[_outcome_pb2.Verdict]
    def __init__(self, verdicts: _Optional[_Iterable[_Union[_outcome_pb2.Verdict, _Mapping]]] = ...) -> None: ...

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("identity", "pack")
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    PACK_FIELD_NUMBER: _ClassVar[int]
    identity: _run_pb2.Identity
    pack: str
    def __init__(self, identity: _Optional[_Union[_run_pb2.Identity, _Mapping]] = ..., pack: _Optional[str] = ...) -> None: ...
