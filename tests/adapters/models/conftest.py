"""What tests of models at the Triton server of the session have to themselves."""

from collections.abc import Iterator
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest


@pytest.fixture
def no_other_calls(session_folder: Path) -> Iterator[None]:
    """No other test that wants this runs meanwhile: the queue of the model `trouble` is short."""
    with (session_folder / "triton-calls").open("w") as calls:
        flock(calls, LOCK_EX)
        yield
