"""The page of a comparison in headless Chromium: read, followed and scrolled by keyboard; and that
of a trend: what its marks look like, and what is folded.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.fakes import comparisons
from tests.fakes.headless_browser import assert_fits, looking, picture
from tests.fakes.suites import checkpoint

from caliper.adapters.files import write_text
from caliper.adapters.pages.compare import render_comparison
from caliper.adapters.pages.trend import render_trend
from caliper.analysis.comparability import Distinction
from caliper.analysis.flips import Flips
from caliper.core.checkpoints import CheckpointEntry, EntryFigure
from caliper.core.entry_states import EntryState
from caliper.pipeline.comparing.comparison import Against

pytestmark = [pytest.mark.browser, pytest.mark.components("Chromium")]

HOSTILE = "</title><img src=x onerror=\"document.title='broken'\"><script>alert(1)</script>"
SCALE = (-20.0, 20.0)
FIGURES = (
    EntryFigure("capability", "average.f1", 50.0, 45.0, 55.0, is_headline=True),
    EntryFigure("capability", "tasks.OCR.f1", 20.0, 10.0, 30.0),
)
Open = Callable[..., Page]


def candidate(name: str = "new", caption: str = "A brown dog.") -> Against:
    listed = [
        *(comparisons.flip(number, better=False) for number in range(3)),
        *(replace(comparisons.flip(number), captions=("A dog.", caption)) for number in range(40)),
    ]
    return comparisons.against(name, Flips(40, 3, 9, 2, tuple(listed)))


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    with looking(chromium) as look:

        def open_page(*candidates: Against, **screen: Any) -> Page:
            text = render_comparison(comparisons.comparison(*candidates), picture)
            return look(write_text(tmp_path / "compared.html", text).as_uri(), **screen)

        yield open_page


def test_it_opens_whole(opened: Open) -> None:
    page = opened(candidate())
    expect(page).to_have_title("new against base · Caliper")
    expect(page.locator("#worse-1 .card")).to_have_count(3)
    expect(page.locator("#better-1 .card")).to_have_count(40)
    expect(page.locator("#better-1 h2")).to_have_text("40 verdicts got better")
    image = page.locator(".card img").last
    image.scroll_into_view_if_needed()
    expect(image).to_have_js_property("naturalWidth", 64)


def test_whiskers_stand_where_the_differences_do(opened: Open) -> None:
    page = opened(candidate())
    row = page.locator("#part-1-2 tbody tr", has_text="OCR")
    box, fill = row.locator("svg.bar").bounding_box(), row.locator(".fill").bounding_box()
    span = row.locator(".span").first.bounding_box()
    assert box is not None
    assert fill is not None
    assert span is not None
    reach = SCALE[1] - SCALE[0]
    assert (fill["x"] - box["x"]) / box["width"] == pytest.approx((-5 - SCALE[0]) / reach, abs=0.01)
    assert fill["width"] / box["width"] == pytest.approx(5 / reach, abs=0.01)
    assert span["width"] / box["width"] == pytest.approx(30 / reach, abs=0.01)
    expect(page.locator("#part-1-2 td.clear")).to_have_count(1)
    expect(row.locator("td").last).to_have_text("10 of 12")


def test_the_keyboard_is_enough(opened: Open) -> None:
    page = opened(candidate("one"), candidate("two"))
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    links = page.locator("nav a")
    for place in range(links.count()):
        page.keyboard.press("Tab")
        expect(links.nth(place)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#better-2")).to_be_in_viewport()
    # The tables scroll, so that each of them has to take the focus.
    assert page.evaluate("location.hash") == "#better-2"
    tables = page.locator(".scroll")
    tables.first.focus()
    expect(tables.first).to_be_focused()
    for way in ("Markdown", "LaTeX", "SVG"):
        page.keyboard.press("Tab")
        button = page.get_by_role("button", name=f"Copy one, Headline figures as {way}")
        expect(button).to_be_focused()
    page.keyboard.press("Tab")
    expect(tables.nth(1)).to_be_focused()
    outline = tables.nth(1).evaluate("found => getComputedStyle(found).outlineStyle")
    assert outline == "solid"


def test_a_narrow_table_is_scrolled_by_keyboard(opened: Open) -> None:
    page = opened(candidate(), width=360)
    table = page.locator(".scroll").first
    table.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    # The page's own policy forbids what waiting for a condition would evaluate in it.
    scrolled = table.evaluate(
        "async table => {"
        " for (let frame = 0; frame < 600 && !table.scrollLeft; frame++)"
        " await new Promise(requestAnimationFrame);"
        " return table.scrollLeft; }"
    )
    assert scrolled > 0


def test_hostile_names_and_captions_are_text(opened: Open) -> None:
    differing = (Distinction("capability", "model", HOSTILE, HOSTILE, HOSTILE),)
    page = opened(replace(candidate(HOSTILE, HOSTILE), setup_differences=differing))
    expect(page.locator("h1")).to_have_text(f"{HOSTILE} against base")
    expect(page.locator("#better-1 .caption").nth(1)).to_have_text(HOSTILE)
    expect(page.locator("#better-1 .card").first.locator("img")).to_have_count(1)
    assert page.title() == f"{HOSTILE} against base · Caliper"


def test_nothing_sticks_out_on_any_screen(opened: Open) -> None:
    endless = "a_checkpoint_whose_name_has_no_end_" * 5
    differing = (Distinction("capability", "setting", endless, endless, "b"),)
    first, second = candidate(endless, endless), candidate("two")
    assert_fits(opened(replace(first, setup_differences=differing), second, width=360))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened: Open, scheme: str) -> None:
    """WCAG 2.2, 1.4.3: at least 4.5 to 1."""
    differing = (Distinction("capability", "model", "judge", "a", "b"),)
    page = opened(replace(candidate(), setup_differences=differing), scheme=scheme)
    for selector in (".loud", ".note", "td .interval", ".card .outcome", ".caption", "thead th"):
        assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector


CONTRAST = """found => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  let ground = found;
  while (numbers(getComputedStyle(ground).backgroundColor)[3] === 0) ground = ground.parentElement;
  const light = (colour) => {
    const [r, g, b] = numbers(colour).map(
      (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const pair = [light(getComputedStyle(found).color),
    light(getComputedStyle(ground).backgroundColor)];
  return Math.max(...pair) / Math.min(...pair);
}"""


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
