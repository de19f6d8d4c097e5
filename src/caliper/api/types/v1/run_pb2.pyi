from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATE_UNSPECIFIED: _ClassVar[RunState]
    RUN_STATE_PLANNING: _ClassVar[RunState]
    RUN_STATE_RUNNING: _ClassVar[RunState]
    RUN_STATE_CANCELLING: _ClassVar[RunState]
    RUN_STATE_CANCELLED: _ClassVar[RunState]
    RUN_STATE_FINISHED: _ClassVar[RunState]
    RUN_STATE_COMPLETE: _ClassVar[RunState]
    RUN_STATE_FAILED: _ClassVar[RunState]
    RUN_STATE_DECIDED: _ClassVar[RunState]
RUN_STATE_UNSPECIFIED: RunState
RUN_STATE_PLANNING: RunState
RUN_STATE_RUNNING: RunState
RUN_STATE_CANCELLING: RunState
RUN_STATE_CANCELLED: RunState
RUN_STATE_FINISHED: RunState
RUN_STATE_COMPLETE: RunState
RUN_STATE_FAILED: RunState
RUN_STATE_DECIDED: RunState

class Identity(_message.Message):
    __slots__ = ("kind", "name", "revision", "origin")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    revision: str
    origin: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., revision: _Optional[str] = ..., origin: _Optional[str] = ...) -> None: ...

class Preparation(_message.Message):
    __slots__ = ("frames", "fps", "longest", "quality", "image_bytes", "clips")
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    FPS_FIELD_NUMBER: _ClassVar[int]
    LONGEST_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    IMAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    CLIPS_FIELD_NUMBER: _ClassVar[int]
    frames: int
    fps: str
    longest: int
    quality: int
    image_bytes: int
    clips: str
    def __init__(self, frames: _Optional[int] = ..., fps: _Optional[str] = ..., longest: _Optional[int] = ..., quality: _Optional[int] = ..., image_bytes: _Optional[int] = ..., clips: _Optional[str] = ...) -> None: ...

class TaxonomyOfDomain(_message.Message):
    __slots__ = ("domain", "nodes")
    DOMAIN_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    domain: str
    nodes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, domain: _Optional[str] = ..., nodes: _Optional[_Iterable[str]] = ...) -> None: ...

class BenchmarkSpec(_message.Message):
    __slots__ = ("name", "data", "captions", "qa_data", "prompt", "repeats", "settings", "models", "preparation", "taxonomy", "caption_tokens", "data_name", "media")
    class SettingsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ModelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Identity
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Identity, _Mapping]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    CAPTIONS_FIELD_NUMBER: _ClassVar[int]
    QA_DATA_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    PREPARATION_FIELD_NUMBER: _ClassVar[int]
    TAXONOMY_FIELD_NUMBER: _ClassVar[int]
    CAPTION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DATA_NAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    name: str
    data: str
    captions: str
    qa_data: str
    prompt: str
    repeats: int
    settings: _containers.ScalarMap[str, str]
    models: _containers.MessageMap[str, Identity]
    preparation: Preparation
    taxonomy: _containers.RepeatedCompositeFieldContainer[TaxonomyOfDomain]
    caption_tokens: int
    data_name: str
    media: str
    def __init__(self, name: _Optional[str] = ..., data: _Optional[str] = ..., captions: _Optional[str] = ..., qa_data: _Optional[str] = ..., prompt: _Optional[str] = ..., repeats: _Optional[int] = ..., settings: _Optional[_Mapping[str, str]] = ..., models: _Optional[_Mapping[str, Identity]] = ..., preparation: _Optional[_Union[Preparation, _Mapping]] = ..., taxonomy: _Optional[_Iterable[_Union[TaxonomyOfDomain, _Mapping]]] = ..., caption_tokens: _Optional[int] = ..., data_name: _Optional[str] = ..., media: _Optional[str] = ...) -> None: ...

class RunSpec(_message.Message):
    __slots__ = ("schema", "name", "version", "pack", "seed", "limit", "replicate", "coverage_floor", "benchmarks", "share_replies", "judge_share", "judging")
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PACK_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    REPLICATE_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FLOOR_FIELD_NUMBER: _ClassVar[int]
    BENCHMARKS_FIELD_NUMBER: _ClassVar[int]
    SHARE_REPLIES_FIELD_NUMBER: _ClassVar[int]
    JUDGE_SHARE_FIELD_NUMBER: _ClassVar[int]
    JUDGING_FIELD_NUMBER: _ClassVar[int]
    schema: int
    name: str
    version: str
    pack: str
    seed: int
    limit: int
    replicate: int
    coverage_floor: float
    benchmarks: _containers.RepeatedCompositeFieldContainer[BenchmarkSpec]
    share_replies: bool
    judge_share: float
    judging: str
    def __init__(self, schema: _Optional[int] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., pack: _Optional[str] = ..., seed: _Optional[int] = ..., limit: _Optional[int] = ..., replicate: _Optional[int] = ..., coverage_floor: _Optional[float] = ..., benchmarks: _Optional[_Iterable[_Union[BenchmarkSpec, _Mapping]]] = ..., share_replies: _Optional[bool] = ..., judge_share: _Optional[float] = ..., judging: _Optional[str] = ...) -> None: ...
