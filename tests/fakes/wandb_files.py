"""Files of W&B's runs: records of its own messages in blocks, as LevelDB's log has them."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wandb.proto.wandb_internal_pb2 import Record

_BLOCK, _HEAD = 32_768, 7
_FULL, _LAST = 1, 4


def records(file: Path) -> list[Any]:
    """The records of a .wandb file."""
    return [Record.FromString(data) for data in _messages(file.read_bytes())]


def _messages(data: bytes) -> Iterator[bytes]:
    assert data[:4] == b":W&B"
    place, message = _HEAD, b""
    while place + _HEAD <= len(data):
        if _BLOCK - place % _BLOCK < _HEAD:
            place += _BLOCK - place % _BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", data, place)
        place += _HEAD + length
        message += data[place - length : place]
        if kind in (_FULL, _LAST):
            yield message
            message = b""
