"""The protocol settings of CompreCap; docs/fidelity.md has their meaning."""

from __future__ import annotations

from caliper.benchmarks.base import BLANK_CAPTION, CAPTION_FENCE, Setting, setting_reader

SETTINGS = (
    Setting("attribute_over", "instances", choices=("instances", "mentioned")),
    Setting("relation_match", "word", choices=("word", "substring")),
    Setting("relations", "aligned", choices=("aligned", "released")),
    Setting("relation_prompt", "phrase", choices=("phrase", "relation")),
    Setting("s_cov", "union", choices=("union", "image")),
    Setting("weights", "text", choices=("text", "table2")),
    Setting("description", "short", choices=("short", "extend")),
    Setting("reading", "bounded", choices=("bounded", "released")),
    Setting("temperature", "0.6", range=(0.0, 2.0)),
    Setting("top_p", "0.9", range=(0.0, 1.0)),
    CAPTION_FENCE,
    BLANK_CAPTION,
)
setting_value = setting_reader(SETTINGS)
"""Return the value of a setting, or its default."""
