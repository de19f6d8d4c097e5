"""Room for pixels: how much the threads of a process decode at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock


class PixelRoom:
    """Bounds the sum of pixels that threads hold; a picture of more is held alone.

    While a large one waits, so do those that come later: small ones cannot keep it out forever.
    """

    def __init__(self) -> None:
        self._turn, self._left = Lock(), Condition()
        self._pixels = 0

    @contextmanager
    def hold(self, pixels: int, most: int) -> Iterator[None]:
        """Wait until `pixels` more are at most `most` in all, and hold them inside the context."""
        with self._turn, self._left:
            self._left.wait_for(lambda: not self._pixels or self._pixels + pixels <= most)
            self._pixels += pixels
        try:
            yield
        finally:
            with self._left:
                self._pixels -= pixels
                self._left.notify_all()


ROOM = PixelRoom()
"""The room of this process."""
