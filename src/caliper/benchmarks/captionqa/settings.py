"""The protocol settings of CaptionQA; docs/fidelity.md has their meaning."""

from __future__ import annotations

from caliper.benchmarks.base import BLANK_CAPTION, CAPTION_FENCE, Setting, setting_reader

SETTINGS = (
    Setting("yes_no", "released", choices=("released", "exact")),
    Setting("shuffle", "question", choices=("question", "released")),
    Setting("reading", "lenient", choices=("lenient", "released")),
    Setting("overall", "domains", choices=("domains", "questions")),
    Setting("max_tokens", "4", range=(1, 1_000_000)),
    Setting("temperature", "0.0", range=(0.0, 2.0)),
    CAPTION_FENCE,
    BLANK_CAPTION,
)
chosen = setting_reader(SETTINGS)
"""Return the value of a setting, or its default."""
