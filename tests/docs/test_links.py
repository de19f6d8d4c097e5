from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.fakes.sources import ROOT

from caliper.cli.app import app

PAGES = sorted(
    page
    for pattern in ("*.md", "docs/*.md", "examples/**/*.md", "deploy/**/*.md")
    for page in ROOT.glob(pattern)
)
_FENCE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_MAKE = re.compile(r"(?:^    |`)make ([a-z]+)", re.MULTILINE)
_COMMAND = re.compile(r"^    (caliper .+)$", re.MULTILINE)
_CODE_PATH = re.compile(r"`((?:src|tests|docs|examples|bench|tools)/[\w./-]+)`")


def anchors(page: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_and_pictures_exist(page: Path) -> None:
    for link in _LINK.findall(_FENCE.sub("", page.read_text("utf-8"))):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_named_files_exist(page: Path) -> None:
    for path in _CODE_PATH.findall(page.read_text("utf-8")):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_named_targets_exist(page: Path) -> None:
    (targets,) = re.findall(
        r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    assert set(_MAKE.findall(page.read_text("utf-8"))) <= set(targets.split())


def commands() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for line in _COMMAND.findall(page.read_text("utf-8")):
            # The generated reference writes what may be left out in brackets.
            if page.name != "cli.md":
                yield name(page), line.replace("[", "").replace("]", "")


@pytest.mark.parametrize(("page", "line"), list(commands()))
def test_commands_have_known_names_options_and_paths(page: str, line: str) -> None:
    command: Any = typer.main.get_command(app)
    # The benchmark that `caliper new` writes has the options of any other.
    words = line.replace(" mentions ", " capability ").split()[1:]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    known = {option for entry in command.params for option in entry.opts}
    assert {word for word in words if word.startswith("-")} <= known
    for word in words:
        assert not word.startswith("examples/") or (ROOT / word).exists(), word


def test_the_documentation_is_short() -> None:
    """A word is what is between spaces and has a letter or a digit."""
    text = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert len(re.findall(r"[^ \n]*[A-Za-z0-9][^ \n]*", text)) <= 25_000


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150
