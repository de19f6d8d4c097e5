"""The protocol settings of CAPability (protocol, section 1)."""

from __future__ import annotations

from caliper.benchmarks.base import BLANK_CAPTION, CAPTION_FENCE, Setting, Settings, setting_reader

SETTINGS = (
    Setting(
        name="reply_reading",
        default="lenient",
        help="how replies are read: lenient also recovers trailing commas, prose around the object"
        " and bare labels; strict accepts only what the released script does",
        choices=("lenient", "strict"),
    ),
    Setting(
        name="category_labels",
        default="any",
        help="camera angle, style and camera movement: any = the judge lists every category stated"
        " and one of them has to be the annotated one (released); one = exactly one (Fig. A3)",
        choices=("any", "one"),
    ),
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
