"""The protocol settings of CAPability (protocol, section 1); docs/fidelity.md has their meaning."""

from __future__ import annotations

from caliper.benchmarks.base import BLANK_CAPTION, CAPTION_FENCE, Setting, Settings, setting_reader

SETTINGS = (
    Setting("reply_reading", "lenient", choices=("lenient", "strict")),
    Setting("category_labels", "any", choices=("any", "one")),
    CAPTION_FENCE,
    BLANK_CAPTION,
)
setting_value = setting_reader(SETTINGS)
"""Return the value of a setting, or its default."""
_NOTES = {
    ("reply_reading", "strict"): "Replies were read strictly, as by the released script;"
    " whatever breaks the format is unscored.",
    ("category_labels", "one"): "The category tasks ask the judge for exactly one category"
    " (Fig. A3); published figures come from lists of which any may match.",
}


def notes(settings: Settings) -> tuple[str, ...]:
    """Return a sentence for every value that differs from the default."""
    return tuple(
        note for (name, choice), note in _NOTES.items() if setting_value(settings, name) == choice
    )
