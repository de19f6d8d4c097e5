"""Chromium for the tests of pages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from tests.fakes import headless_browser


# Not for the session: it keeps event loops away.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with headless_browser.chromium(headless_browser.needed()) as browser:
        yield browser
