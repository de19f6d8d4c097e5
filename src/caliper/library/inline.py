"""Pages and tables inside notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

MOST_CHARACTERS = 4_000_000
"""The most in a page that is shown whole: a notebook keeps a copy of each page that it shows."""


def frame(page: str) -> str:
    """A self-contained page of ours in a frame of its own: it cannot reach the notebook."""
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(page)}" '
        'style="width:100%;height:640px;border:1px solid #ccc"></iframe>'
    )


def remarks(texts: Sequence[str]) -> str:
    """Paragraphs."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def grid(head: Sequence[str], *rows: Sequence[str]) -> str:
    """A table."""
    cells = "".join(f"<th>{escape(each)}</th>" for each in head)
    lines = ("".join(f"<td>{escape(each)}</td>" for each in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
