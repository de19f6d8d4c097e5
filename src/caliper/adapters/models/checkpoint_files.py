"""The config.json of a model and the sizes of its tensors: of a folder, or of the Hub, without its
weights.
"""

from __future__ import annotations

import json
import re
import struct
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.adapters.hub_errors import HubRequest, hub_errors_translated
from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    import huggingface_hub
    from huggingface_hub import errors as hub_errors
else:
    # It takes long to import.
    huggingface_hub = lazy_module("huggingface_hub")
    hub_errors = lazy_module("huggingface_hub.errors")

CONFIG = "config.json"
_WEIGHTS = re.compile(r"model.*\.safetensors")
_NAME = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^@]+))?")
_SYNTAX = "owner/name[@revision]"
_LENGTH = struct.Struct("<Q")
_MOST_HEADER = 100_000_000
_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """A model's configuration, and the bytes of its tensors by type: none without safetensors.

    `file` says where the configuration is.
    """

    name: str
    file: str
    config: Mapping[str, Any]
    tensors: Mapping[str, int]


def read_local(path: Path) -> CheckpointFiles:
    """Read a config.json or a folder with one. Raises InvalidInput naming the file."""
    folder = path if path.is_dir() else None
    file = path if folder is None else folder / CONFIG
    try:
        config = _mapping(file.read_bytes(), str(file))
        names = [each.name for each in folder.iterdir()] if folder else []
        tensors = [pair for name in names if _is_weights(name) for pair in _header(path / name)]
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput(f"it cannot be read: {reason}", file=str(file)) from error
    return CheckpointFiles(str(path), str(file), config, _total(tensors))


def read_published(name: str, endpoint: str | None) -> CheckpointFiles:
    """Read a repository `owner/name[@revision]` of the Hub at `endpoint`: some headers, no weights.

    Raises InvalidInput for a repository that is not there or holds no config.json, StoreUnavailable
    if the Hub cannot be asked.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise InvalidInput(f"no such file, and no model on the Hub; expected {_SYNTAX}", file=name)
    request = HubRequest("model", match[1], match[2] or "main", name, _SYNTAX)
    hub = huggingface_hub.HfApi(endpoint=endpoint)
    with (
        tempfile.TemporaryDirectory() as scratch,
        hub_errors_translated(request, endpoint, Path(scratch)),
    ):
        info = hub.model_info(match[1], revision=request.revision, timeout=_SECONDS)
        files, revision = {each.rfilename for each in info.siblings or ()}, info.sha
        if CONFIG not in files:
            raise InvalidInput(f"it holds no {CONFIG}", file=name)
        copy = hub.hf_hub_download(match[1], CONFIG, revision=revision, local_dir=scratch)
        config = _mapping(Path(copy).read_bytes(), f"{name}/{CONFIG}")
        try:
            headers = [
                hub.parse_safetensors_file_metadata(match[1], file, revision=revision)
                for file in files
                if _is_weights(file)
            ]
        except hub_errors.SafetensorsParsingError as error:
            raise InvalidInput("its safetensors have no readable header", file=name) from error
    tensors = [each for file in headers for each in file.tensors.values()]
    sizes = _total((each.dtype, each.data_offsets[1] - each.data_offsets[0]) for each in tensors)
    return CheckpointFiles(f"{match[1]}@{revision}", f"{name}/{CONFIG}", config, sizes)


def _is_weights(name: str) -> bool:
    return _WEIGHTS.fullmatch(name) is not None


def _mapping(data: bytes, file: str) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except ValueError as error:
        raise InvalidInput(f"not JSON: {error}", file=file) from error
    if not isinstance(value, dict):
        raise InvalidInput("not a JSON object", file=file)
    return value


def _header(file: Path) -> list[tuple[str, int]]:
    """Type and bytes of each tensor of a safetensors file."""
    with file.open("rb") as content:
        start = content.read(_LENGTH.size)
        length = _LENGTH.unpack(start)[0] if len(start) == _LENGTH.size else _MOST_HEADER + 1
        text = content.read(length) if length <= _MOST_HEADER else b""
    try:
        tensors = _mapping(text, str(file))
        pairs = [each for name, each in tensors.items() if name != "__metadata__"]
        return [
            (each["dtype"], each["data_offsets"][1] - each["data_offsets"][0]) for each in pairs
        ]
    except (InvalidInput, KeyError, TypeError, ValueError) as error:
        raise InvalidInput("it has no header of safetensors", file=str(file)) from error


def _total(tensors: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    sums = Counter[str]()
    for kind, size in tensors:
        sums[kind] += size
    return dict(sums)
