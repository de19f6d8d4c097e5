"""The pages of a real `caliper serve` in headless Chromium, and that of a run with more verdicts
than it loads whole.
"""

import re
import signal
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.fakes import reports
from tests.fakes.command import Command, end, wait_for
from tests.fakes.headless_browser import assert_fits, looking
from tests.fakes.sources import EXAMPLES

from caliper.adapters.pages import live
from caliper.adapters.pages.page_data import script_json
from caliper.adapters.pages.samples import select_all

pytestmark = [pytest.mark.browser, pytest.mark.components("Chromium")]

DATA = {
    "capability": (EXAMPLES / "capability", EXAMPLES / "media"),
    "captionqa": (EXAMPLES / "captionqa" / "questions.json", EXAMPLES / "media"),
}
HOME = "http://127.0.0.1:9/"
ROWS = [reports.verdict(index) for index in range(300)]
WHOLE = "const WHOLE = 20000;"
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the pages of an installation with two runs, the media of which are there."""
    folder = tmp_path_factory.mktemp("installation")
    caliper = Command(folder)
    process = caliper.start(
        *("serve", "--listen", "127.0.0.1:0", "--page", "127.0.0.1:0", "--store", "there")
    )
    try:
        _, gateway, page = wait_for(
            process, r"Serving on (\S+)", r"pages on (http://127\.0\.0\.1:\d+)/"
        )
        for name, (data, media) in DATA.items():
            caliper("data", "push", name, data, "--media", media, "--server", gateway, code=0)
        for name in ("careless", "careful"):
            config = EXAMPLES / f"{name}.yaml"
            caliper("evaluate", "--config", config, "--server", gateway, "--quiet", code=0)
        yield page
    finally:
        ended = end(process, signal.SIGTERM)
    assert ended.code == 0
    assert not re.search("ERROR|Traceback", ended.err)


@pytest.fixture
def opened(chromium: Browser, served: str) -> Iterator[Open]:
    """Opens a page; nothing comes from elsewhere."""
    with looking(chromium, f"{served}/") as look:
        yield lambda path="/", *screen: look(served + path, *screen)


def to_run(page: Page, name: str = "careful") -> str:
    """Follow the link to a run; returns its path."""
    page.get_by_role("link", name=name, exact=True).click()
    expect(page.locator("h1")).to_have_text(name)
    return page.url[page.url.index("/runs/") :]


def press_until_focused(page: Page, selector: str, most: int = 60) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.locator(selector).evaluate("found => found === document.activeElement"):
            return
    pytest.fail(f"the keyboard does not reach {selector}")


def test_from_the_list_to_a_run_to_its_samples_and_back(opened: Open) -> None:
    page = opened()
    expect(page).to_have_title("Runs · Caliper")
    expect(page.locator("tbody tr")).to_have_count(2)
    to_run(page)
    expect(page.locator(".complete strong")).to_have_text("COMPLETE")
    expect(page.locator(".headline")).to_have_count(3)
    expect(page.locator("#capability svg.bar").first).to_be_visible()
    page.get_by_role("link", name="Samples").click()
    expect(page.locator(".card")).to_have_count(40)
    page.locator(".trail").get_by_role("link", name="Runs").click()
    expect(page).to_have_title("Runs · Caliper")


def test_samples_have_pictures_captions_and_filters(opened: Open) -> None:
    page = opened()
    to_run(page, "careless")
    page.get_by_role("link", name="Samples").click()
    page.get_by_label("Benchmark").select_option("captionqa")
    page.select_option("#filter-outcome", "wrong")
    expect(page.locator("#count")).to_contain_text("shown")
    outcomes = page.locator(".card .outcome").all_text_contents()
    assert set(outcomes) == {"wrong"}
    image = page.locator(".card img").first
    image.scroll_into_view_if_needed()
    image.evaluate("found => found.decode()")
    assert image.evaluate("found => found.naturalWidth") > 100
    page = opened(page.url[page.url.index("/runs/") :])
    expect(page.locator("#count")).to_contain_text("shown")
    assert set(page.locator(".card .outcome").all_text_contents()) == {"wrong"}
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#count")).to_have_text(
        re.compile(r"^40 of 338 shown; 508 verdicts with repeats$")
    )
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".card")).to_have_count(80)
    page.select_option("#filter-category", "Attribute - Color")
    kinds = page.locator(".card .top span:nth-child(2)")
    expect(kinds.first).to_have_text(re.compile("^CaptionQA · .* · Attribute - Color$"))
    assert all(text.endswith("Attribute - Color") for text in kinds.all_text_contents())


def test_media_that_are_not_there_are_said(opened: Open) -> None:
    page = opened()
    run = to_run(page)
    page = opened(f"{run}/samples?benchmark=comprecap")
    expect(page.locator(".card img")).to_have_count(0)
    expect(page.locator(".nothing").first).to_have_text("no picture")


def test_two_runs_are_compared_by_keyboard_alone(opened: Open) -> None:
    page = opened()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    press_until_focused(page, "tr:nth-child(1) input[type=radio]")
    page.keyboard.press("ArrowDown")
    expect(page.locator("tr:nth-child(2) input[type=radio]")).to_be_checked()
    page.locator("tr:nth-child(1) th a").focus()
    press_until_focused(page, "tr:nth-child(1) input[type=checkbox]")
    page.keyboard.press("Space")
    press_until_focused(page, "button")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("careful against careless")
    expect(page.locator("#better-1 .card").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(".trail a")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_title("Runs · Caliper")
    page.go_back()
    page.locator("#better-1 .card").first.get_by_role("link", name="Verdict").last.click()
    expect(page.locator("#count")).to_have_text(re.compile("^1 of 1 shown"))


def test_the_report_opens_with_its_script(opened: Open) -> None:
    page = opened()
    to_run(page)
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.locator("#count")).to_have_text(re.compile("shown"))
    expect(page.locator(".card")).to_have_count(40)


def test_what_is_not_there_is_a_page(chromium: Browser, served: str) -> None:
    page = chromium.new_page()
    answer = page.goto(f"{served}/runs/{'0' * 16}")
    assert answer is not None
    assert answer.status == 404
    expect(page.get_by_role("alert")).to_have_text(f"no run {'0' * 16}")
    page.get_by_role("link", name="Runs").click()
    expect(page).to_have_title("Runs · Caliper")
    page.close()


def test_nothing_sticks_out_on_any_screen(opened: Open) -> None:
    page = opened()
    first, second = (str(link.get_attribute("href")) for link in page.locator("tbody th a").all())
    compared = f"/compare?base={second.split('/')[-1]}&run={first.split('/')[-1]}"
    for path in ("/", first, f"{first}/samples", compared):
        assert_fits(opened(path, 360))


@pytest.fixture
def asked() -> list[dict[str, list[str]]]:
    return []


@pytest.fixture
def large(chromium: Browser, asked: list[dict[str, list[str]]]) -> Iterator[Page]:
    """A page whose limit is 200, at a server that answers 100 at a time."""
    page = chromium.new_page(bypass_csp=True)
    shown = live.render_samples(("r", "ours"), len(ROWS))
    assert WHOLE in shown
    counts = select_all(ROWS, {}).counts

    def answer(route: Route) -> None:
        place = urlsplit(route.request.url)
        if not place.path.endswith("/verdicts"):
            text = shown.replace(WHOLE, "const WHOLE = 200;")
            return route.fulfill(body=text, content_type="text/html; charset=utf-8")
        query = parse_qs(place.query)
        asked.append(query)
        outcome, text = (query.get(name, [""])[0] for name in ("outcome", "text"))
        after = int(query.get("token", ["0.-1"])[0].partition(".")[2])
        found = [
            each
            for each in select_all(ROWS, {}).samples
            if outcome in ("", each.row.outcome) and each.row.index > after
        ]
        following = f"0.{found[99].row.index}" if len(found) > 100 else ""
        # As the real one, which reads so many, and returns those that have the text.
        held = [each for each in found[:100] if text in each.row.item]
        data = live.verdict_page("r", held, (), counts, following)
        return route.fulfill(body=script_json(data), content_type="application/json")

    page.route("**/*", answer)
    yield page
    page.close()


def test_filters_are_the_servers(large: Page, asked: list[dict[str, list[str]]]) -> None:
    large.goto(f"{HOME}?outcome=wrong")
    count = large.locator("#count")
    expect(count).to_have_text("40 of 75 shown")
    assert asked == [{"outcome": ["wrong"]}]
    expect(large.locator("#filter-outcome option:checked")).to_have_text("wrong (75)")
    large.get_by_role("button", name="Show all").click()
    expect(count).to_have_text("40 of 100 loaded shown; 100 of 300 verdicts are here")
    for shown in (80, 120, 160, 200, 240, 280, 300):
        large.locator("#more").click()
        expect(large.locator(".card")).to_have_count(shown)
    expect(count).to_have_text("300 of 300 shown")
    expect(large.locator("#more")).to_be_hidden()
    expect(large.locator("#filter-outcome option")).to_have_text(
        ["all", "correct (75)", "not mentioned (75)", "unscored (75)", "wrong (75)"]
    )
    large.goto(f"{HOME}#verdict=250")
    large.reload()
    expect(large.locator(".card")).to_have_count(1)
    assert asked[-1] == {"token": ["0.249"]}


def test_text_is_searched_by_the_server(large: Page, asked: list[dict[str, list[str]]]) -> None:
    large.goto(HOME)
    expect(large.locator(".card")).to_have_count(40)
    large.fill("#filter-text", ROWS[299].item)
    expect(large.locator("#count")).to_have_text("1 of 1 shown")
    words = {"text": [ROWS[299].item]}
    assert asked[1:] == [words, words | {"token": ["0.99"]}, words | {"token": ["0.199"]}]
    large.reload()
    expect(large.locator("#count")).to_have_text("1 of 1 shown")
    large.get_by_role("button", name="Show all").click()
    expect(large.locator("#count")).to_have_text(
        "40 of 100 loaded shown; 100 of 300 verdicts are here"
    )


def test_a_server_that_is_gone_is_said(large: Page) -> None:
    large.goto(HOME)
    expect(large.locator(".card")).to_have_count(40)
    large.unroute("**/*")
    large.select_option("#filter-outcome", "wrong")
    expect(large.locator("#count")).to_have_text(
        "The server answered nothing: load the page again."
    )
