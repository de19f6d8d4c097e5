"""The protocol settings of CaptionQA, and functions that read them."""

from __future__ import annotations

from caliper.benchmarks.base import BLANK_CAPTION, CAPTION_FENCE, Setting, Settings
from caliper.core.errors import InvalidInput, UnknownName

_TOKEN_RANGE = (1, 1_000_000)

YES_NO = Setting(
    "yes_no",
    "released",
    "which questions get no cannot option: the released substring rule, or whole words in choices",
    ("released", "exact"),
)
SHUFFLE = Setting(
    "shuffle",
    "question",
    "how options are ordered: drawn for each question by itself, or by one generator for the run",
    ("question", "released"),
)
READING = Setting(
    "reading",
    "lenient",
    "how replies are read: lenient reads as a person would, and what is unreadable is unscored;"
    " released reads as the authors' script does, unreadable is wrong",
    ("lenient", "released"),
)
OVERALL = Setting(
    "overall",
    "domains",
    "the headline: the unweighted mean of the domains (paper), or the mean over questions",
    ("domains", "questions"),
)
MAX_TOKENS = Setting(
    "max_tokens",
    "4",
    "output tokens of the reader; one that reasons needs more than the released 4",
    range=_TOKEN_RANGE,
)
TEMPERATURE = Setting(
    "temperature",
    "0.0",
    "the reader's temperature; over 0 for its stability over repeats (paper 3.5)",
    range=(0.0, 2.0),
)
SETTINGS: tuple[Setting, ...] = (
    YES_NO,
    SHUFFLE,
    READING,
    OVERALL,
    MAX_TOKENS,
    TEMPERATURE,
    CAPTION_FENCE,
    BLANK_CAPTION,
)


def choice(settings: Settings, setting: Setting) -> str:
    """Return the value of a setting, or its default. Raises UnknownName with the known choices."""
    value = settings.get(setting.name, setting.default)
    if value not in setting.choices:
        raise UnknownName(setting.name, value, setting.choices)
    return value


def max_tokens(settings: Settings) -> int:
    """Return the reader's output token limit. Raises InvalidInput if out of range or not whole."""
    value = settings.get(MAX_TOKENS.name, MAX_TOKENS.default)
    least, greatest = _TOKEN_RANGE
    if not (value.isascii() and value.isdigit() and least <= int(value) <= greatest):
        raise InvalidInput(
            f"expected a whole number from {least} to {greatest}, found {value!r:.40}",
            field=MAX_TOKENS.name,
        )
    return int(value)
