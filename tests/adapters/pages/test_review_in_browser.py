"""The page of a real `caliper build review` in headless Chromium: panels and screens. The walk of
docs/build.md, tests/docs/test_build.py, has whole reviews by keys.
"""

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect
from tests.fakes.candidate_reviews import assessed, build_directory
from tests.fakes.command import Command
from tests.fakes.headless_browser import assert_fits
from tests.fakes.review_keys import reviewing

pytestmark = [pytest.mark.browser, pytest.mark.components("Chromium")]

REVIEW = ("build", "--images", ".", "--reviewer")


@pytest.fixture(scope="module")
def caliper(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with a build directory of ten questions, and pictures."""
    folder = tmp_path_factory.mktemp("reviewed")
    build_directory(folder / "build", assessed(10))
    for place in range(5):
        size = (320, 200) if place else (2400, 1600)
        Image.new("RGB", size, (90, 40 * place, 120)).save(folder / f"picture{place}.jpg")
    return Command(folder)


def test_panels_zoom_and_focus_by_keys(caliper: Command, chromium: Browser) -> None:
    with reviewing(caliper, chromium, *REVIEW, "carl") as (look, home):
        page = look(home)
        expect(page.locator("#picture img")).to_have_js_property("naturalWidth", 1600)
        page.keyboard.press("z")
        picture = page.locator("#picture")
        expect(picture).to_be_focused()
        assert picture.evaluate("box => box.scrollWidth > box.clientWidth")
        page.keyboard.press("ArrowRight")
        expect(page).to_have_title("Question 1 of 10 · Caliper")
        page.keyboard.press("z")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("e")
        expect(page.locator("#edit textarea")).to_be_focused()
        page.keyboard.press("r")
        expect(page.locator("#edit textarea")).to_have_value("What is it, number 0?r")
        page.keyboard.press("Escape")
        expect(page.locator("#edit")).not_to_have_attribute("open", "")
        page.keyboard.press("r")
        expect(page.locator("#reject")).to_have_attribute("open", "")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#saved")).to_have_text("Saved: reject question 1.")
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"


def test_the_review_fits_every_screen(caliper: Command, chromium: Browser) -> None:
    with reviewing(caliper, chromium, *REVIEW, "dora") as (look, home):
        page = look(home, 360)
        page.keyboard.press("e")
        assert_fits(page)
