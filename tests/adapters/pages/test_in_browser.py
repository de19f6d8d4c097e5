"""The page in headless Chromium: it fetches nothing, complains of nothing, and works."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.fakes import reports
from tests.fakes.headless_browser import assert_fits, looking, picture

from caliper.adapters.files import write_text
from caliper.adapters.pages.render import render_report
from caliper.adapters.pages.samples import Selection, choose, select_all

pytestmark = [pytest.mark.browser, pytest.mark.components("Chromium")]

HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"><!-- <script>alert(1)</script>"
LONG = "A tabby cat looks straight into the camera. " * 60
Open = Callable[..., Page]


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    with looking(chromium) as look:

        def open_page(
            selection: Selection, fragment: str = "", *, compressed: bool = False, **screen: Any
        ) -> Page:
            text = render_report(reports.report(), selection, picture, compressed=compressed)
            return look(
                f"{write_text(tmp_path / 'report.html', text).as_uri()}{fragment}", **screen
            )

        yield open_page


def many() -> Selection:
    rows = reports.verdicts(1200)
    captions = {row.sample: LONG for row in rows}
    return choose(rows, {"capability": captions, "captionqa": captions})


def chosen(page: Page) -> list[str]:
    return page.locator(".card .outcome").all_text_contents()


def test_the_page_opens_whole_with_500_samples(opened: Open) -> None:
    page = opened(many())
    expect(page).to_have_title("My checkpoint 7B · Caliper")
    expect(page.locator("#count")).to_have_text("40 of 500 shown; 500 of 1,200 verdicts are here")
    expect(page.locator(".card")).to_have_count(40)
    assert set(chosen(page)) == {"wrong", "unscored: unreadable"}
    image = page.locator(".card img").first
    image.scroll_into_view_if_needed()
    expect(image).to_have_js_property("naturalWidth", 64)
    assert Path(page.url.removeprefix("file://")).stat().st_size < 25_000_000


def test_a_page_to_share_has_all_verdicts(opened: Open) -> None:
    page = opened(select_all(reports.verdicts(1200), {}), compressed=True)
    expect(page.locator("#count")).to_have_text("40 of 1,200 shown")
    expect(page.locator("#filter-outcome option")).to_have_text(
        ["all", "correct (300)", "not mentioned (300)", "unscored (300)", "wrong (300)"]
    )


def test_charts_draw_bars_and_whiskers_in_place(opened: Open) -> None:
    page = opened(Selection())
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
    assert set(told) <= {"CAPability · Scene"}
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#count")).to_have_text("40 of 96 shown")


def test_categories_are_chosen_where_questions_have_them(opened: Open) -> None:
    names = ("", "Text - Names", "Text - Names", "Text - Numbers")
    rows = [reports.verdict(place, category=name) for place, name in enumerate(names)]
    page = opened(choose(rows, {}))
    options = page.locator("#filter-category option")
    expect(options).to_have_text(["all", "Text - Names (2)", "Text - Numbers (1)"])
    page.select_option("#filter-category", "Text - Names")
    expect(page.locator("#count")).to_have_text("2 of 2 shown")
    expect(page.locator(".card .top").first).to_contain_text("Text - Names")
    assert "category=Text+-+Names" in page.url
    page = opened(choose(rows[:1], {}))
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator("#filter-category")).to_be_hidden()


def test_choices_offer_what_is_left(opened: Open) -> None:
    rows = [
        reports.verdict(0, benchmark="capability", dimension="scene"),
        reports.verdict(1, benchmark="captionqa", dimension="natural"),
        reports.verdict(2, benchmark="captionqa", dimension="natural"),
    ]
    page = opened(choose(rows, {}))
    options = page.locator("#filter-dimension option")
    expect(options).to_have_text(["all", "Natural (2)", "Scene (1)"])
    page.select_option("#filter-benchmark", "captionqa")
    expect(options).to_have_text(["all", "Natural (2)"])


def test_a_part_of_the_verdicts_is_counted_as_a_part(opened: Open) -> None:
    page = opened(many())
    page.select_option("#filter-outcome", "wrong")
    expect(page.locator("#count")).to_have_text("40 of 124 shown; 500 of 1,200 verdicts are here")
    expect(page.locator("#filter-outcome option:checked")).to_have_text("wrong (124 of 300)")


def test_repeats_of_a_question_are_one_card(opened: Open) -> None:
    rows = [
        reports.verdict(place, question_id="a", repeat=place, dimension="scene", item="scene/0")
        for place in range(3)
    ]
    page = opened(select_all([*rows, reports.verdict(3)], {"capability": {"sample0": LONG}}))
    expect(page.locator("#count")).to_have_text("2 of 2 shown; 4 verdicts with repeats")
    card = page.locator(".card").first
    expect(card.locator(".top .outcome")).to_have_text("correct (1), wrong (1), not mentioned (1)")
    expect(card.locator(".repeats li")).to_have_count(3)
    expect(card.locator(".caption")).to_have_count(1)
    page.select_option("#filter-outcome", "wrong")
    expect(page.locator("#count")).to_have_text("1 of 1 shown; 3 verdicts with repeats")


def test_text_is_found_in_questions_and_captions(opened: Open) -> None:
    rows = [reports.verdict(0, question="Is it a TRAM?"), reports.verdict(3), reports.verdict(5)]
    page = opened(select_all(rows, {"capability": {"sample1": "Two trams.", "sample2": LONG}}))
    page.keyboard.press("/")
    page.keyboard.type("tram")
    expect(page.locator("#count")).to_have_text("2 of 2 shown")
    expect(page.locator("#filter-outcome option")).to_have_text(
        ["all", "correct (1)", "unscored (1)"]
    )
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_have_attribute("open", "")
    assert page.url.endswith("#text=tram")


def test_links_lead_to_a_verdict_a_sample_and_what_was_filtered(opened: Open) -> None:
    rows = select_all([reports.verdict(index) for index in range(96)], {})
    page = opened(rows, "#verdict=50")
    expect(page.locator("#count")).to_have_text("1 of 1 shown")
    expect(page.locator(".card")).to_be_focused()
    page.locator(".card .item a").first.click()
    expect(page.locator("#count")).to_have_text("2 of 2 shown")
    assert page.url.endswith("#sample=capability%2Fsample25")
    expect(page.locator(".card").first).to_be_focused()
    page.locator("#only").click()
    expect(page.locator("#count")).to_have_text("40 of 96 shown")
    page.select_option("#filter-outcome", "wrong")
    page.locator(".card .item a").first.click()
    expect(page.locator("#only")).to_be_visible()
    page.go_back()
    expect(page.locator("#count")).to_have_text("24 of 24 shown")
    again = opened(rows, page.url[page.url.index("#") :])
    expect(again.locator("#count")).to_have_text("24 of 24 shown")


def test_going_back_from_a_sample_shows_all_again(opened: Open) -> None:
    page = opened(select_all(reports.verdicts(96), {}))
    page.locator(".card .item a").first.click()
    expect(page.locator("#only")).to_be_visible()
    page.go_back()
    expect(page.locator("#count")).to_have_text("40 of 96 shown")


def test_tables_and_charts_are_copied_by_keyboard(opened: Open) -> None:
    page = opened(Selection())
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    def copied(name: str) -> str:
        page.get_by_role("button", name=f"Copy Tasks as {name}").focus()
        page.keyboard.press("Enter")
        expect(page.locator(".copy output").first).to_have_text(f"{name} copied.")
        text: str = page.evaluate("navigator.clipboard.readText()")
        return text

    assert copied("Markdown").splitlines()[:3] == [
        "|  | Precision | Recall | F1 | Scored |",
        "| --- | ---: | ---: | ---: | ---: |",
        f"| object\\_number |{' 40.00 (36.00 to 45.00) |' * 3} 100 |",
    ]
    latex = copied("LaTeX")
    assert "object\\_number & 40.00 (36.00 to 45.00) &" in latex
    assert latex.endswith("\\\\\n\\bottomrule\n\\end{tabular}\n")
    drawing = ET.fromstring(copied("SVG"))  # noqa: S314 - as above
    texts = [each.text for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:5] == ["F1", "0", "100", "object_number", "40.00 (36.00 to 45.00)"]
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}svg"))) == 1 + 1 + 7


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
    for _ in range(3):  # over the links to the sample and the verdict
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
    page = opened(select_all([row], {"capability": {row.sample: HOSTILE}}))
    expect(page.locator(".caption")).to_have_text(HOSTILE)
    expect(page.locator(".question")).to_have_text(HOSTILE)
    expect(page.locator(".card img")).to_have_count(1)
    expect(page).to_have_title(re.compile("Caliper"))


def test_only_long_captions_are_folded(opened: Open) -> None:
    texts = {"capability": {"sample0": "Short.", "sample2": LONG}}
    page = opened(select_all([reports.verdict(1), reports.verdict(5)], texts))
    expect(page.locator(".card").nth(0).get_by_role("button")).to_have_count(0)
    expect(page.locator(".card").nth(1).get_by_role("button")).to_have_text("Whole caption")


def test_no_samples_are_said(opened: Open) -> None:
    expect(opened(Selection()).locator(".empty")).to_have_text("No sample is like that.")


def test_nothing_sticks_out_on_any_screen(opened: Open) -> None:
    endless = "a_dimension_whose_name_has_no_end_" * 5
    row = reports.verdict(99, dimension=endless, item=endless, question=endless, reply=endless)
    assert_fits(opened(choose([row, *reports.verdicts(20)], {}), width=360))


def test_it_prints(opened: Open) -> None:
    page = opened(choose(reports.verdicts(20), {}))
    page.emulate_media(media="print")
    expect(page.locator(".filters")).to_be_hidden()
    expect(page.locator(".card").first).to_be_visible()
    assert page.pdf().startswith(b"%PDF")
