"""The page of a real `caliper build review` in headless Chromium, by keys alone."""

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from tests.fakes.candidate_reviews import assessed, build_directory
from tests.fakes.command import Command, end, wait_for
from tests.fakes.headless_browser import Look, looking

pytestmark = [pytest.mark.browser, pytest.mark.components("Chromium")]

SIZE = 10
QUESTIONS = assessed(SIZE)


@pytest.fixture(scope="module")
def caliper(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A folder with a build directory of ten questions, and their pictures."""
    folder = tmp_path_factory.mktemp("reviewed")
    build_directory(folder / "build", QUESTIONS)
    for place in range(SIZE // 2):
        size = (320, 200) if place else (2400, 1600)
        Image.new("RGB", size, (90, 40 * place, 120)).save(folder / f"picture{place}.jpg")
    return Command(folder)


@contextmanager
def reviewing(
    caliper: Command, chromium: Browser, name: str, *flags: str
) -> Iterator[tuple[Look, str]]:
    """The page of a reviewer; nothing comes from elsewhere."""
    process = caliper.start(
        *("build", "review", "build", "--reviewer", name, "--images", ".", *flags)
    )
    try:
        _, home = wait_for(process, r"Review at (http://127\.0\.0\.1:\d+/[\w-]{22}/)")
        with looking(chromium, home) as look:
            yield look, home
    finally:
        ended = end(process, signal.SIGINT)
    assert ended.code == 0
    assert "Traceback" not in ended.err


def press(page: Page, *keys: str, number: int = 0, done: int) -> None:
    """Press keys, and wait until the page shows a question, or the end, and the progress."""
    for key in keys:
        if " " in key:
            page.keyboard.type(key)
        else:
            page.keyboard.press(key)
    title = f"Question {number} of {SIZE}" if number else r"Review by \w+"
    expect(page).to_have_title(re.compile(f"^{title} · Caliper$"))
    expect(page.locator("label[for=progress]")).to_have_text(f"{done} of {SIZE} reviewed")


def test_two_reviewers_by_keys_alone(caliper: Command, chromium: Browser) -> None:
    with reviewing(caliper, chromium, "ana") as (look, home):
        page = look(home)
        expect(page.locator("#question")).to_be_focused()
        expect(page.locator("#picture img")).to_have_js_property("naturalWidth", 1600)
        press(page, "a", number=2, done=1)
        expect(page.locator("#saved")).to_have_text("Saved: accept question 1.")
        press(page, "ArrowLeft", number=1, done=1)
        expect(page.locator("#own")).to_contain_text("accept")
        press(page, "ArrowRight", number=2, done=1)
        press(page, "r", "2", number=3, done=2)
        press(page, "u", number=2, done=1)
        expect(page.locator("#saved")).to_have_text("Undone: question 2 has no verdict.")
        press(page, "a", number=3, done=2)
        page.reload()
        press(page, "e", "Control+a", "Who is it?", "Control+Enter", number=4, done=3)
        expect(page.locator("#saved")).to_have_text("Saved: edit question 3.")
        page = look(home)
        press(page, number=4, done=3)
        for number in range(5, SIZE + 1):
            press(page, "a", number=number, done=number - 1)
        press(page, "A", done=SIZE)
        expect(page.get_by_text("All questions here are reviewed.")).to_be_visible()
    with reviewing(caliper, chromium, "bob") as (look, home):
        page = look(home)
        expect(page.locator("label[for=progress]")).to_have_text("0 of 10 reviewed")
        edit = ("e", "Control+a", "Who is it?", "Control+Enter")
        verdicts = (("r", "1"), ("a",), edit, *[("a",)] * 6, ("r", "5"))
        for done, keys in enumerate(verdicts, start=1):
            expect(page.locator("#own")).to_have_count(0)
            press(page, *keys, number=(done + 1) % (SIZE + 1), done=done)
    told = caliper("build", "agreement", "build", "--json", code=0).told
    assert told["decisions"] == {"accept": 8, "reject": 0, "disputed": 2, "pending": 0}
    assert told["edited"] == 1
    first, last = QUESTIONS[0].candidate.id, QUESTIONS[-1].candidate.id
    assert told["disputed"] == [
        {"id": first, "verdicts": {"ana": "accept", "bob": "reject"}},
        {"id": last, "verdicts": {"ana": "accept", "bob": "reject"}},
    ]
    assert told["agreement"]["whole"]["accuracy"]["value"] == 0.8
    with reviewing(caliper, chromium, "bob", "--disputed") as (look, home):
        page = look(home)
        expect(page.locator(".other")).to_contain_text("ana")
        page.keyboard.press("a")
        expect(page.locator("label[for=progress]")).to_have_text("1 of 2 reviewed")
    told = caliper("build", "agreement", "build", "--json", code=0).told
    assert told["decisions"]["disputed"] == 1
    assert told["agreement"]["whole"]["accuracy"]["value"] == 0.8


def test_panels_zoom_and_focus_by_keys(caliper: Command, chromium: Browser) -> None:
    with reviewing(caliper, chromium, "carl") as (look, home):
        page = look(home)
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
    with reviewing(caliper, chromium, "dora") as (look, home):
        for width, scheme in ((360, "light"), (360, "dark"), (1280, "light"), (1280, "dark")):
            page = look(home, width, scheme)
            page.keyboard.press("e")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (ground == "rgb(251, 250, 247)") is (scheme == "light")
