"""The browser of a run with more verdicts than it loads whole, in headless Chromium."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from tests.fakes import reports

from caliper.adapters.pages import live
from caliper.adapters.pages.page_data import script_json
from caliper.adapters.pages.samples import select_all

pytestmark = [pytest.mark.browser, pytest.mark.components("Chromium")]

HOME = "http://127.0.0.1:9/"
ROWS = [reports.verdict(index) for index in range(300)]
WHOLE = "const WHOLE = 20000;"


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
