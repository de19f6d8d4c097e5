"""The protocol settings of CompreCap."""

from __future__ import annotations

from caliper.benchmarks.base import BLANK_CAPTION, CAPTION_FENCE, Setting, setting_reader

SETTINGS = (
    Setting(
        "attribute_over",
        "instances",
        "S-attribute is a mean over all annotated instances (released), or over the mentioned "
        "ones only (paper 3.3)",
        choices=("instances", "mentioned"),
    ),
    Setting(
        "relation_match",
        "word",
        "an annotated category is named in a relation as a whole word, or as any part of the "
        "text (released: 'car' in 'carpet')",
        choices=("word", "substring"),
    ),
    Setting(
        "relations",
        "aligned",
        "relations are compared with their own sentences (paper 3.3), or paired by position as in "
        "the released script, where objects without relations shift them",
        choices=("aligned", "released"),
    ),
    Setting(
        "relation_prompt",
        "phrase",
        "relations are scored with the printed prompt of attributes (paper 3.3, Fig. 3), or with "
        "one that asks about the relationship (released; the words are Caliper's)",
        choices=("phrase", "relation"),
    ),
    Setting(
        "s_cov",
        "union",
        "S-Cov is a share of the pixels that masks cover (released), or of the image (paper 3.3)",
        choices=("union", "image"),
    ),
    Setting(
        "weights",
        "text",
        "the weights of S-object, S-attribute and S-relation in S-unified: 0.25, 0.35, 0.40 (text, "
        "code), or 0.25, 0.30, 0.45 (Table 2)",
        choices=("text", "table2"),
    ),
    Setting(
        "description",
        "short",
        "which description of an instance is compared: short_description (released default), or "
        "extend_description",
        choices=("short", "extend"),
    ),
    Setting(
        "reading",
        "bounded",
        "the first integer of a reply is the score: bounded leaves others than 0 to 5 unscored; "
        "released takes any number, and -1 where there is none",
        choices=("bounded", "released"),
    ),
    Setting("temperature", "0.6", "the judge's temperature (released)", range=(0.0, 2.0)),
    Setting("top_p", "0.9", "the judge's top-p (released)", range=(0.0, 1.0)),
    CAPTION_FENCE,
    BLANK_CAPTION,
)
setting_value = setting_reader(SETTINGS)
"""Return the value of a setting, or its default."""
