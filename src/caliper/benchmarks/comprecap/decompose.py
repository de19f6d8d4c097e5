"""Taking a caption apart (paper 3.3, Decomposing Detailed Caption)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# A literal backslash-n and the end-of-sequence token are what captioners leave in their text.
_SEPARATORS = re.compile(r"\n|\\n|</s>|\.")


def pieces(caption: str) -> tuple[str, ...]:
    """The caption's pieces, trimmed, none empty (released script).

    It is split on newlines, a literal backslash-n, `</s>` and full stops.
    """
    parts = (part.strip() for part in _SEPARATORS.split(caption))
    return tuple(part for part in parts if part)


def join(parts: Sequence[str], places: Iterable[int]) -> str:
    """The pieces at these places, each once and in the caption's order, joined with `. `."""
    return ". ".join(parts[place] for place in sorted(set(places)))
