"""Fixtures of the tests of suites."""

import pytest
from tests.fakes.suite_loops import Surroundings


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()
