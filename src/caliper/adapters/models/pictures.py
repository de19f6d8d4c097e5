"""The pictures of a call, for models that take no clips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from caliper.core.errors import BackendRejected
from caliper.ports.models import ChatMessage, Image, WholeClip


def pictures_of(messages: Sequence[ChatMessage]) -> list[Image]:
    """The pictures in order. Raises BackendRejected for a whole clip."""
    parts: Iterable[str | Image] = (part for message in messages for part in message.content)
    images = [part for part in parts if isinstance(part, Image)]
    if any(isinstance(image, WholeClip) for image in images):
        raise BackendRejected("the model takes no whole clips; use --preparation clips=frames")
    return images
