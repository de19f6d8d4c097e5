"""The page in headless Chromium: it fetches nothing, complains of nothing, and works."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.fakes import reports
from tests.fakes.browsing import looking, picture

from caliper.adapters.files import write_text
from caliper.adapters.pages.render import render_report
from caliper.adapters.pages.samples import Sample, choose

pytestmark = [pytest.mark.browser, pytest.mark.components("Chromium")]

HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"><!-- <script>alert(1)</script>"
LONG = "A tabby cat looks straight into the camera. " * 60
Open = Callable[..., Page]


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    with looking(chromium) as look:

        def open_page(samples: tuple[Sample, ...], **screen: Any) -> Page:
            text = render_report(reports.report(), samples, picture)
            return look(write_text(tmp_path / "report.html", text).as_uri(), **screen)

        yield open_page


def many() -> tuple[Sample, ...]:
    rows = reports.verdicts(1200)
    captions = {row.sample: LONG for row in rows}
    return choose(rows, {"capability": captions, "captionqa": captions})


def chosen(page: Page) -> list[str]:
    return page.locator(".card .outcome").all_text_contents()


def test_the_page_opens_whole_with_500_samples(opened: Open) -> None:
    page = opened(many())
    expect(page).to_have_title("My checkpoint 7B · Caliper")
    expect(page.locator("#count")).to_have_text("40 of 500 shown")
    expect(page.locator(".card")).to_have_count(40)
    expect(page.locator(".card").first.locator(".outcome")).to_have_text("unscored: unreadable")
    image = page.locator(".card img").first
    image.scroll_into_view_if_needed()
    expect(image).to_have_js_property("naturalWidth", 64)
    assert Path(page.url.removeprefix("file://")).stat().st_size < 25_000_000


def test_charts_draw_bars_and_whiskers_in_place(opened: Open) -> None:
    page = opened(())
    row = page.locator("#capability tbody tr", has_text="average").locator("svg.bar")
    box, fill = row.bounding_box(), row.locator(".fill").bounding_box()
    span = row.locator(".span").first.bounding_box()
    assert box is not None
    assert fill is not None
    assert span is not None
    assert fill["width"] / box["width"] == pytest.approx(0.615, abs=0.005)
    assert (span["x"] - box["x"]) / box["width"] == pytest.approx(0.5825, abs=0.005)
    assert span["width"] / box["width"] == pytest.approx(0.05875, abs=0.005)


def test_filters_choose_and_say_how_many(opened: Open) -> None:
    page = opened(choose(reports.verdicts(96), {}))
    page.select_option("#filter-benchmark", "capability")
    expect(page.locator("#count")).to_have_text("40 of 48 shown")
    page.select_option("#filter-outcome", "wrong")
    expect(page.locator("#count")).to_have_text("12 of 12 shown")
    page.select_option("#filter-dimension", "scene")
    assert set(chosen(page)) <= {"wrong"}
    told = page.locator(".top span:nth-child(2)").all_text_contents()
    assert set(told) <= {"capability · scene"}
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#count")).to_have_text("40 of 96 shown")


def test_choices_offer_what_is_left(opened: Open) -> None:
    rows = [
        reports.verdict(0, benchmark="capability", dimension="scene"),
        reports.verdict(1, benchmark="captionqa", dimension="natural"),
        reports.verdict(2, benchmark="captionqa", dimension="natural"),
    ]
    page = opened(choose(rows, {}))
    options = page.locator("#filter-dimension option")
    assert options.all_text_contents() == ["all", "natural (2)", "scene (1)"]
    page.select_option("#filter-benchmark", "captionqa")
    assert options.all_text_contents() == ["all", "natural (2)"]


def test_more_samples_come_on_demand_and_take_the_focus(opened: Open) -> None:
    page = opened(choose(reports.verdicts(50), {}))
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".card")).to_have_count(50)
    expect(page.locator(".card").nth(40)).to_be_focused()
    expect(page.locator("#more")).to_be_hidden()


def test_the_keyboard_is_enough(opened: Open) -> None:
    page = opened(many())
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator("#filter-outcome").focus()
    page.keyboard.press("w")  # a select element chooses by its first letter
    expect(page.locator("#filter-outcome")).to_have_value("wrong")
    page.locator("#filter-outcome").blur()
    for _ in range(3):
        page.keyboard.press("j")
    expect(page.locator(".card").nth(2)).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".card").nth(1)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    toggle = page.locator(".card").nth(1).get_by_role("button")
    expect(toggle).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".card").nth(1).locator("details pre")).to_be_visible()


def test_stepping_past_the_last_sample_brings_more(opened: Open) -> None:
    page = opened(many())
    page.locator(".card").nth(39).focus()
    page.keyboard.press("j")
    expect(page.locator(".card")).to_have_count(80)
    expect(page.locator(".card").nth(40)).to_be_focused()


def test_hostile_captions_are_text(opened: Open) -> None:
    row = reports.verdict(1, reply=HOSTILE, question=HOSTILE, dimension=HOSTILE, item=HOSTILE)
    page = opened((Sample(row, HOSTILE),))
    expect(page.locator(".caption")).to_have_text(HOSTILE)
    expect(page.locator(".question")).to_have_text(HOSTILE)
    expect(page.locator(".card img")).to_have_count(1)
    expect(page).to_have_title(re.compile("Caliper"))


def test_only_long_captions_are_folded(opened: Open) -> None:
    rows = (Sample(reports.verdict(1), "Short."), Sample(reports.verdict(5), LONG))
    page = opened(rows)
    expect(page.locator(".card").nth(0).get_by_role("button")).to_have_count(0)
    expect(page.locator(".card").nth(1).get_by_role("button")).to_have_text("Whole caption")


def test_no_samples_are_said(opened: Open) -> None:
    expect(opened(()).locator(".empty")).to_have_text("No sample is like that.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out_on_any_screen(opened: Open, width: int, scheme: str) -> None:
    endless = "a_dimension_whose_name_has_no_end_" * 5
    row = reports.verdict(99, dimension=endless, item=endless, question=endless, reply=endless)
    page = opened(choose([row, *reports.verdicts(20)], {}), width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 247)"
    assert light is (scheme == "light")


def test_it_prints(opened: Open) -> None:
    page = opened(choose(reports.verdicts(20), {}))
    page.emulate_media(media="print")
    expect(page.locator(".filters")).to_be_hidden()
    expect(page.locator(".card").first).to_be_visible()
    assert page.pdf().startswith(b"%PDF")
