"""The store that most stages are tested on."""

import pytest
from tests.fakes.stores import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()
