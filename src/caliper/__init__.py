"""Caliper: evaluate image and video captioning checkpoints on three benchmarks."""

import os

# Set before anything imports huggingface_hub: the first completion of a process would ask the Hub,
# inside the event loop, which agent runs it.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
