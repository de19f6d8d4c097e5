"""Headless Chromium on our own pages: unexpected fetches and console errors fail the test."""

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.servers.absence import leave_out

SCREENS = tuple((width, scheme) for width in (360, 768, 1280) for scheme in ("light", "dark"))
"""Widths from a telephone's on, and schemes of colours."""
_LIGHT = "rgb(251, 250, 247)"
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
# Chromium's sandbox does not work as root (in a container); the pages are our own.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_PATIENCE = 20_000
"""Milliseconds. Never measured: it only ends a test whose page does not come."""

Look = Callable[..., Page]
"""Opens a page by its address, on a screen so wide and with a scheme of colours."""


def picture(_: str, media: str) -> bytes:
    """A JPEG of a single colour, different for every picture."""
    shade, file = sum(media.encode()) % 200, io.BytesIO()
    Image.new("RGB", (64, 48), (shade, 90, 200 - shade)).save(file, "JPEG")
    return file.getvalue()


def program() -> str | None:
    """The path of Chromium on this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def needed() -> str:
    """The path of Chromium. Skips without one; fails instead where CI promises to have it."""
    path = program()
    if path is None:
        leave_out("Chromium", "install it (Debian: apt-get install chromium-headless-shell)")
    return path


@contextmanager
def chromium(path: str) -> Iterator[Browser]:
    """While it lives, no test in the same process can have an event loop."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        # What is expected of a page has five seconds otherwise.
        expect.set_options(timeout=_PATIENCE)
        yield browser
        browser.close()


@contextmanager
def looking(browser: Browser, home: str = "") -> Iterator[Look]:
    """Opens pages, which may fetch only from below `home`, or nothing without one. At the end,
    checks that nothing else was fetched and nothing was logged as an error.
    """
    context = browser.new_context()
    context.set_default_timeout(_PATIENCE)
    allowed = ("data:", home) if home else ("data:",)
    trouble: list[str] = []

    def look(address: str, width: int = 1280, scheme: str = "light") -> Page:
        page = context.new_page()
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 900})
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(f"dialog {dialog.message}"))

        def requested(url: str) -> None:
            if url != address.partition("#")[0] and not url.startswith(allowed):
                trouble.append(f"requested {url}")

        page.on("request", lambda request: requested(request.url))
        page.goto(address)
        return page

    yield look
    context.close()
    assert trouble == []


def assert_fits(page: Page) -> None:
    """Nothing sticks out of the page on any screen, and its ground is as light as it is asked."""
    for width, scheme in SCREENS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (page.url, width)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == _LIGHT) is (scheme == "light"), page.url
