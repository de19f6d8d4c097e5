import pytest
from tests.fakes.observed_gauges import Watching


@pytest.fixture
async def watching() -> Watching:
    found = Watching()
    await found.begin()
    return found
