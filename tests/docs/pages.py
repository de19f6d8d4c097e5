"""Code blocks out of the pages of docs/."""

from __future__ import annotations

import re

from tests.fakes.sources import ROOT


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language in docs/<page>, in order."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
