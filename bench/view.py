"""Measures `caliper view` of 12,000 questions in Chromium: the first cards of a page and its
filters, of a file to share and of a run directory that is served, as parts of their bounds.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.console import Console
from tests.fakes import headless_browser

from bench.synthetic import write_captionqa

if TYPE_CHECKING:
    from playwright.sync_api import Page

SAMPLES, QUESTIONS = 3000, 4
LOAD, FILTER = 2000, 200
"""Bounds in milliseconds."""
_COMMAND = (sys.executable, "-m", "caliper.cli")
_SHOWN = "document.getElementById('count')?.textContent ?? ''"
# From the change of a filter until its cards are painted.
_FILTERED = """([field, value]) => new Promise((done) => {
  const start = performance.now();
  const element = document.getElementById(field);
  element.value = value;
  for (const event of ["input", "change"]) element.dispatchEvent(new Event(event, {bubbles: true}));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""


def main() -> None:
    """Evaluate, and look at the run both ways."""
    console = Console()
    program = headless_browser.program()
    if program is None:
        console.print("view: needs Chromium")
        return
    with TemporaryDirectory() as name, headless_browser.chromium(program) as chromium:
        folder = Path(name)
        _prepare(folder)
        console.print(f"view: {SAMPLES * QUESTIONS:,} questions in Chromium {chromium.version}")
        page = chromium.new_page()
        size = (folder / "page.html").stat().st_size / 1e6
        console.print(f"  file of {size:.1f} MB: {_figures(page, (folder / 'page.html').as_uri())}")
        with _served(folder / "run") as address:
            for look in ("first", "second"):
                page = chromium.new_page()
                console.print(f"  served, {look} look: {_figures(page, f'{address}/samples')}")


def _prepare(folder: Path) -> None:
    """Evaluate a run, and write it as a file."""
    write_captionqa(folder, SAMPLES, QUESTIONS)
    files = ("--data", folder / "data.jsonl", "--captions", folder / "captions.json")
    run = folder / "run"
    for words in (
        ("evaluate", "captionqa", *files, "--out", run, "--quiet"),
        ("view", run, "--out", folder / "page.html"),
    ):
        subprocess.run([*_COMMAND, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def _figures(page: Page, address: str) -> str:
    page.goto(address, wait_until="commit")
    page.wait_for_selector("#cards > li")
    first = float(page.evaluate("performance.now()"))
    while f"of {SAMPLES * QUESTIONS:,} shown" not in (shown := page.evaluate(_SHOWN)):
        page.wait_for_timeout(10)
    while "loading" in shown:
        page.wait_for_timeout(10)
        shown = page.evaluate(_SHOWN)
    loaded = float(page.evaluate("performance.now()"))
    figures = [
        f"cards shown {first:.0f} ms ({first / LOAD:.2f} of the bound)",
        f"all loaded {loaded:.0f} ms",
    ]
    for field, value in (
        ("filter-outcome", "correct"),
        ("filter-outcome", ""),
        ("filter-text", "harbour"),
        ("filter-text", "harbour an"),
    ):
        took = float(page.evaluate(_FILTERED, [field, value]))
        figures.append(f"{value or 'all'} {took:.0f} ms ({took / FILTER:.2f})")
    return ", ".join(figures)


@contextmanager
def _served(run: Path) -> Iterator[str]:
    command = [*_COMMAND, "view", str(run), "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr or ():
                if match := re.search(r"pages on (\S+)", line):
                    yield match[1]
                    break
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
