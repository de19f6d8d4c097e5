"""Chromium for the tests of pages."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.servers.absent import leave_out

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Root (a container) cannot have Chromium's sandbox; the pages are our own.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


# Not for the session: while it lives, no test in the same process can have an event loop.
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Headless Chromium. Skips without one; fails instead where CI promises to have it."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        leave_out("Chromium", "install it (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
