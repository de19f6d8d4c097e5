"""Ends what would go on for very long."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# Never measured: seconds enough for any machine, where a loop within a loop takes many minutes.
_PATIENCE = 60.0


@contextmanager
def comes_to_an_end(patience: float = _PATIENCE) -> Iterator[None]:
    """Fails the test when the block is still busy after so many seconds; in the main thread. What
    is left of the patience around it goes on afterwards.
    """

    def over(*_: object) -> None:
        pytest.fail(f"still busy after {patience:g} s")

    before = signal.signal(signal.SIGALRM, over)
    left, _ = signal.setitimer(signal.ITIMER_REAL, patience)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)
