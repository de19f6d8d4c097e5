"""Ends what would go on for very long."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# Never measured: seconds enough for any machine, where a loop within a loop takes many minutes.
_PATIENCE = 60


@contextmanager
def comes_to_an_end() -> Iterator[None]:
    """Fails the test when the block is still busy after a minute; in the main thread."""

    def over(*_: object) -> None:
        pytest.fail(f"still busy after {_PATIENCE} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(_PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
