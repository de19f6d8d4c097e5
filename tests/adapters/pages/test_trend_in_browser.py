"""The trend page in headless Chromium: what its marks look like, and what is folded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from tests.fakes.headless_browser import looking
from tests.fakes.suites import checkpoint

from caliper.adapters.files import write_text
from caliper.adapters.pages.trend import render_trend
from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryState

pytestmark = [pytest.mark.browser, pytest.mark.components("Chromium")]

HOSTILE = "</title><img src=x onerror=\"document.title='broken'\"><script>alert(1)</script>"
FIGURES = (
    EntryFigure("capability", "average.f1", 50.0, 45.0, 55.0, is_headline=True),
    EntryFigure("capability", "tasks.OCR.f1", 20.0, 10.0, 30.0),
)


def entry(step: int, **fields: Any) -> CheckpointEntry:
    known: dict[str, Any] = {
        "figures": FIGURES,
        "run": f"run-{step}",
        "is_complete": True,
        **fields,
    }
    return replace(CheckpointEntry("s", "v", checkpoint(step), "t", "t"), **known)


def test_decided_points_are_hollow_and_others_full(chromium: Browser, tmp_path: Path) -> None:
    decided: dict[str, Any] = {
        "is_complete": False,
        "findings": ({},),
        "asked": 1,
        "saved": 3,
        "baseline": "rev1",
    }
    entries = [
        entry(1),
        entry(2, **decided, state=EntryState.PASSED),
        entry(3, **decided, state=EntryState.REGRESSED, reason=HOSTILE),
    ]
    lost = entry(4, figures=(), run="", state=EntryState.FAILED, reason="its captions are gone")
    page_text = render_trend("nightly", entries, [("capability", "average.f1")], [lost])
    with looking(chromium) as look:
        page = look(write_text(tmp_path / "trend.html", page_text).as_uri())
        expect(page).to_have_title("nightly by training step · Caliper")
        circles = page.locator("#line-1 circle")
        expect(circles).to_have_count(3)
        fills, widths = (
            [
                circles.nth(place).evaluate(f"one => getComputedStyle(one).{style}")
                for place in range(3)
            ]
            for style in ("fill", "strokeWidth")
        )
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert [each == paper for each in fills] == [False, True, True]
        assert widths[0] == widths[1] < widths[2]
        expect(page.locator("#line-1 .gap")).to_have_count(1)
        expect(page.locator("#checkpoints")).to_contain_text("its captions are gone")
        expect(page.locator("#checkpoints")).to_contain_text("caliper compare run-1 run-2")
        expect(page.locator("#checkpoints")).to_contain_text("baseline of 2")
        chart = page.locator("#others svg")
        expect(chart).not_to_be_visible()
        page.locator("#others summary").click()
        expect(chart).to_be_visible()
