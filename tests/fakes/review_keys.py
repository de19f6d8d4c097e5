"""The page of a real `caliper build review` in Chromium, by keys."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect
from tests.fakes.command import Command, end, wait_for
from tests.fakes.headless_browser import Look, looking


@contextmanager
def reviewing(caliper: Command, chromium: Browser, *arguments: str) -> Iterator[tuple[Look, str]]:
    """The page of a reviewer, and its address; nothing comes from elsewhere."""
    process = caliper.start("build", "review", *arguments)
    try:
        _, home = wait_for(process, r"Review at (http://127\.0\.0\.1:\d+/[\w-]{22}/)")
        with looking(chromium, home) as look:
            yield look, home
    finally:
        ended = end(process, signal.SIGINT)
    assert ended.code == 0
    assert "Traceback" not in ended.err


def press(page: Page, *keys: str, number: int = 0, done: str) -> None:
    """Press keys, and wait until the page shows a question, or the end, and the progress."""
    for key in keys:
        if " " in key:
            page.keyboard.type(key)
        else:
            page.keyboard.press(key)
    title = rf"Question {number} of \d+" if number else r"Review by \w+"
    expect(page).to_have_title(re.compile(f"^{title} · Caliper$"))
    expect(page.locator("label[for=progress]")).to_have_text(f"{done} reviewed")
