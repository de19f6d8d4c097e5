"""Chromium for the tests of pages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from tests.fakes import headless_browser
from tests.servers.absence import leave_out


# Not for the session: while it lives, no test in the same process can have an event loop.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Headless Chromium. Skips without one; fails instead where CI promises to have it."""
    path = headless_browser.program()
    if path is None:
        leave_out("Chromium", "install it (Debian: apt-get install chromium-headless-shell)")
    with headless_browser.chromium(path) as browser:
        yield browser
