"""The files of a small model of a family that nobody knows."""

from __future__ import annotations

import json
import struct
from typing import Any

from tests.fakes.published_models import decoder

_CONFIG = decoder("unheard-of", (64, 128, 2), (4, 2), 100)
_SHARDS = {
    "model-00001-of-00002.safetensors": {"a": ("BF16", 600), "b": ("F8_E4M3", 40)},
    "model-00002-of-00002.safetensors": {"c": ("BF16", 24)},
    # The same once more, as some repositories keep it beside.
    "consolidated.safetensors": {"a": ("BF16", 624)},
}
SIZES = {"BF16": 624, "F8_E4M3": 40}


def _safetensors(tensors: dict[str, tuple[str, int]]) -> bytes:
    """A file of tensors of these types and bytes."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, (kind, size) in tensors.items():
        header[name] = {"dtype": kind, "shape": [size], "data_offsets": [start, start + size]}
        start += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(start)


FILES = {
    "config.json": json.dumps(_CONFIG).encode(),
    **{name: _safetensors(tensors) for name, tensors in _SHARDS.items()},
}
