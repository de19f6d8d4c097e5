"""A time limit for blocks that might never end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

# Generous: enough on any machine, while quadratic code takes many minutes.
_PATIENCE = 60.0


@contextmanager
def comes_to_an_end(patience: float = _PATIENCE) -> Iterator[None]:
    """Fail the test if the block takes longer than this many seconds; main thread only. An outer
    limit continues with its remaining time afterwards.
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
