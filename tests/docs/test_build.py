"""docs/build.md as written: from pictures to scores, with people in a browser."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.docs.pages import blocks
from tests.fakes.command import Command
from tests.fakes.headless_browser import chromium, needed
from tests.fakes.review_keys import press, reviewing
from tests.fakes.sources import EXAMPLES, ROOT

TEN = 10
EDIT = ("e", "Control+a", "What is the light on the table like?", "Control+Enter")
Reviewer = Callable[[Page], None]


def accepts_all(page: Page) -> None:
    """The reviewer of the build without a model."""
    for done in range(1, 12):
        press(page, "a", number=(done + 1) % 12, done=f"{done} of 11")


def ana(page: Page) -> None:
    """She goes back and forth, undoes and edits, and leaves the page twice."""
    expect(page.locator("#question")).to_be_focused()
    press(page, "a", number=2, done="1 of 10")
    expect(page.locator("#saved")).to_have_text("Saved: accept question 1.")
    press(page, "ArrowLeft", number=1, done="1 of 10")
    expect(page.locator("#own")).to_contain_text("accept")
    press(page, "ArrowRight", number=2, done="1 of 10")
    press(page, "r", "2", number=3, done="2 of 10")
    press(page, "u", number=2, done="1 of 10")
    expect(page.locator("#saved")).to_have_text("Undone: question 2 has no verdict.")
    press(page, "a", number=3, done="2 of 10")
    page.reload()
    press(page, *EDIT, number=4, done="3 of 10")
    expect(page.locator("#saved")).to_have_text("Saved: edit question 3.")
    page.goto(re.sub(r"(/[\w-]{22}/).*", r"\1", page.url))
    press(page, number=4, done="3 of 10")
    for done in range(4, TEN + 1):
        keys = ("r", "1") if done == 6 else ("A",)
        press(page, *keys, number=(done + 1) % (TEN + 1), done=f"{done} of 10")
    expect(page.get_by_text("All questions here are reviewed.")).to_be_visible()


def ben(page: Page) -> None:
    """He does not see what she said, and rejects two more."""
    expect(page.locator("label[for=progress]")).to_have_text("0 of 10 reviewed")
    others = {1: ("r", "1"), 3: EDIT, 6: ("r", "1"), TEN: ("r", "5")}
    for done in range(1, TEN + 1):
        expect(page.locator("#own")).to_have_count(0)
        keys = others.get(done, ("a",))
        press(page, *keys, number=(done + 1) % (TEN + 1), done=f"{done} of 10")


def ben_again(page: Page) -> None:
    """Of the two disputed questions he accepts the first."""
    expect(page.locator(".other")).to_contain_text("ana")
    page.keyboard.press("a")
    expect(page.locator("label[for=progress]")).to_have_text("1 of 2 reviewed")


def follow(folder: Path, block: str, *reviewers: Reviewer, browser: Browser | None = None) -> str:
    """Do what a block says; `reviewers` are the people at its pages, in order. Returns what the
    commands print.
    """
    printed, people, caliper = [], iter(reviewers), Command(folder)
    for line in block.splitlines():
        words = shlex.split(line)
        if words[:3] == ["caliper", "build", "review"] and browser is not None:
            with reviewing(caliper, browser, *words[3:]) as (look, home):
                next(people)(look(home))
        elif words[0] == "caliper":
            printed.append(caliper(*words[1:], code=0).out)
        else:
            subprocess.run(words, cwd=folder, check=True)
    return " ".join(" ".join(printed).split())


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the examples."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    return tmp_path


@pytest.mark.browser
@pytest.mark.components("Chromium")
def test_the_walk(clone: Path) -> None:
    by_hand, by_models, *_ = blocks("build.md", "bash")
    with chromium(needed()) as browser:
        tried = follow(clone, by_hand, accepts_all, browser=browser)
        built = follow(clone, by_models, ana, ben, ben_again, browser=browser)
    assert "2-formats: 16 in, 12 kept, 4 dropped" in tried
    assert "11 questions, 0 of which nobody reviewed" in tried
    assert "3-blind: 42 in, 40 kept, 2 dropped" in built
    assert "4-duplicates: 40 in, 39 kept, 1 dropped" in built
    assert "6-balance: 39 in, 36 kept, 3 dropped" in built
    assert "26 accepted, 10 to review; 20 of 20 categories covered" in built
    assert "Decisions: 33 accept, 1 reject, 2 disputed, 0 pending; 1 with an edit" in built
    left = "34 questions, 26 of which nobody reviewed; left out: 1 rejected, 0 not reviewed"
    assert f"{left}, 1 disputed" in built
    assert "Coverage: 34 of 34 askable questions scored" in built
    (first,), (careful, careless) = (
        re.findall(r"CaptionQA: (\S+) ", printed) for printed in (tried, built)
    )
    page = (ROOT / "docs" / "build.md").read_text()
    assert f"the captions score {first}." in page
    assert f"careful captions score {careful}, careless ones {careless}." in page
    card = (clone / "built" / "card.md").read_text()
    assert "- 3-blind: replay (replay, " in card
    assert "prompt building/validate: SHA-256" in card
    assert "Of the 34 questions that are here, nobody reviewed 26." in card
    assert "Agreement on 10 questions, with 95% intervals: share 0.80" in card


def test_annotations_of_the_examples(clone: Path) -> None:
    *_, by_hand, _ = blocks("build.md", "bash")
    told = follow(clone, by_hand)
    assert "6-balance: 118 in, 52 kept, 66 dropped" in told


def test_scene_graphs_of_the_examples(clone: Path) -> None:
    *_, by_hand = blocks("build.md", "bash")
    told = follow(clone, by_hand)
    assert "2-masks: 43 in, 29 kept, 14 dropped" in told
    assert "55 accepted, 0 to review" in told
