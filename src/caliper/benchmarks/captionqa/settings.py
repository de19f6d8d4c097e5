"""The protocol settings of CaptionQA."""

from __future__ import annotations

from caliper.benchmarks.base import BLANK_CAPTION, CAPTION_FENCE, Setting, setting_reader

SETTINGS = (
    Setting(
        "yes_no",
        "released",
        "the questions without a cannot option: by the released substring rule, or by whole words"
        " in choices",
        ("released", "exact"),
    ),
    Setting(
        "shuffle",
        "question",
        "the order of options: drawn separately for each question, or by one generator for the run",
        ("question", "released"),
    ),
    Setting(
        "reading",
        "lenient",
        "how replies are read: lenient reads as a person would, and leaves unreadable ones"
        " unscored; released reads as the authors' script does, and unreadable is wrong",
        ("lenient", "released"),
    ),
    Setting(
        "overall",
        "domains",
        "the headline: the unweighted mean of the domains (paper), or the mean over questions",
        ("domains", "questions"),
    ),
    Setting(
        "max_tokens",
        "4",
        "output tokens of the reader; one that reasons needs more than the released 4",
        range=(1, 1_000_000),
    ),
    Setting(
        "temperature",
        "0.0",
        "the reader's temperature; over 0 for its stability over repeats (paper 3.5)",
        range=(0.0, 2.0),
    ),
    CAPTION_FENCE,
    BLANK_CAPTION,
)
chosen = setting_reader(SETTINGS)
"""Return the value of a setting, or its default."""
