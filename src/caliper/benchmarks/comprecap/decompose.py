"""Split a caption into pieces (paper 3.3, Decomposing Detailed Caption)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Captioners may leave a literal backslash-n and the end-of-sequence token in their text.
_SEPARATORS = re.compile(r"\n|\\n|</s>|\.")


def pieces(caption: str) -> tuple[str, ...]:
    """Return the caption's non-empty pieces, trimmed (released script).

    It is split at newlines, a literal backslash-n, `</s>` and full stops.
    """
    parts = (part.strip() for part in _SEPARATORS.split(caption))
    return tuple(part for part in parts if part)


def join(parts: Sequence[str], places: Iterable[int]) -> str:
    """Join the pieces at these indices with `. `, each once and in the caption's order."""
    return ". ".join(parts[place] for place in sorted(set(places)))
