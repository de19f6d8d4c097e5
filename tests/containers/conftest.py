"""The image of this checkout."""

import pytest
from tests.servers import containers, fetch
from tests.servers.absence import leave_out


def pytest_itemcollected(item: pytest.Item) -> None:
    """Note which tests run containers; the summary of a session counts by it."""
    if "image" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.components(containers.NAME))


@pytest.fixture(scope="session")
def image() -> str:
    try:
        return containers.image()
    except fetch.Missing as reason:
        leave_out(containers.NAME, reason)
