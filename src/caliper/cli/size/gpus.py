"""Which GPUs hold a model, and how many calls it answers there at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from caliper.cli.size.cache import Cache

MIB = 2**20
GPUS: Mapping[str, int] = {
    "L4": 23_034,
    "A100-40GB": 40_960,
    "L40S": 46_068,
    "A100-80GB": 81_920,
    "H100": 81_559,
    "H200": 143_771,
    "B200": 183_359,
}
"""The memory of a GPU in MiB, as its driver reports it."""

USED = 0.9
"""The part of a GPU that a server takes: vLLM's `--gpu-memory-utilization` unless set."""
RESERVE, TOWER_RESERVE = 2048 * MIB, 1024 * MIB
"""Bytes that a server needs beside weights and cache: its code, activations and graphs; and more
bytes for a vision tower, with pictures of 1,024 pixels per side.
"""
DEGREES = (1, 2, 4, 8)
"""The GPUs of one server in one node (tensor parallel)."""


@dataclass(frozen=True, slots=True)
class ModelSize:
    """The size of a model. `weights` are bytes by type, `heads` those of its attention, `context`
    the most tokens of a call.
    """

    name: str
    weights: Mapping[str, int]
    cache: Cache
    heads: int
    context: int
    sees: bool = False

    @property
    def bytes(self) -> int:
        return sum(self.weights.values())

    def calls(self, gpu: int, gpus: int, tokens: int) -> int:
        """Concurrent calls of `tokens` tokens on `gpus` GPUs of `gpu` bytes each; 0 if the model
        does not fit, or its heads cannot be split so.
        """
        whole = gpus % self.cache.heads == 0 or self.cache.heads % gpus == 0
        if self.heads % gpus or not whole:
            return 0
        reserve = RESERVE + self.sees * TOWER_RESERVE
        room = gpu * USED - self.bytes / gpus - reserve
        return max(0, int(room / (self.cache.call(tokens) * self.cache.share(gpus))))

    def fit(self, gpu: int, tokens: int) -> Mapping[int, int]:
        """Calls at once by the number of GPUs of one server, of `gpu` bytes each."""
        return {gpus: self.calls(gpu, gpus, tokens) for gpus in DEGREES}
