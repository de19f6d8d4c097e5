"""Caliper: evaluate image and video captioning checkpoints on three benchmarks."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from caliper.local.registration import register_checkpoint

__all__ = ["register_checkpoint"]

# Set before anything imports huggingface_hub: the first completion of a process would ask the Hub,
# inside the event loop, which agent runs it.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


def __getattr__(name: str) -> Any:
    # Imported when asked for: commands that do not need it start faster.
    if name in __all__:
        return getattr(import_module("caliper.local.registration"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
