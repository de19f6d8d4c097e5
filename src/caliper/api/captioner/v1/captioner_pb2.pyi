from caliper.api.types.v1 import outcome_pb2 as _outcome_pb2
from caliper.api.types.v1 import run_pb2 as _run_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Media(_message.Message):
    __slots__ = ("key", "inline", "name")
    KEY_FIELD_NUMBER: _ClassVar[int]
    INLINE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    key: str
    inline: bytes
    name: str
    def __init__(self, key: _Optional[str] = ..., inline: _Optional[bytes] = ..., name: _Optional[str] = ...) -> None: ...

class CaptionRequest(_message.Message):
    __slots__ = ("media", "benchmark", "prompt", "group", "caption_tokens")
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    BENCHMARK_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    CAPTION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    media: _containers.RepeatedCompositeFieldContainer[Media]
    benchmark: str
    prompt: str
    group: str
    caption_tokens: int
    def __init__(self, media: _Optional[_Iterable[_Union[Media, _Mapping]]] = ..., benchmark: _Optional[str] = ..., prompt: _Optional[str] = ..., group: _Optional[str] = ..., caption_tokens: _Optional[int] = ...) -> None: ...

class CaptionResponse(_message.Message):
    __slots__ = ("text", "truncated", "unscored", "explanation")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    UNSCORED_FIELD_NUMBER: _ClassVar[int]
    EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    text: str
    truncated: bool
    unscored: _outcome_pb2.Reason
    explanation: str
    def __init__(self, text: _Optional[str] = ..., truncated: _Optional[bool] = ..., unscored: _Optional[_Union[_outcome_pb2.Reason, str]] = ..., explanation: _Optional[str] = ...) -> None: ...

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
