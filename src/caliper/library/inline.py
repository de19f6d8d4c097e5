"""Pages and tables inside notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def frame(page: str, height: int = 640) -> str:
    """A self-contained page of ours in a frame of its own: it cannot reach the notebook."""
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(page)}" '
        f'style="width:100%;height:{height}px;border:1px solid #ccc"></iframe>'
    )


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    cells = "".join(f"<th>{escape(each)}</th>" for each in head)
    lines = ("".join(f"<td>{escape(each)}</td>" for each in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
