"""The answer in a reply: without the thoughts before it and the code fences around it."""

from __future__ import annotations


def told(reply: str) -> str:
    """What stands behind the thoughts, minus signs as hyphens; nothing when they never end."""
    answer = reply.rpartition("</think>")[2].replace("\u2212", "-")
    return "" if "<think>" in answer else answer


def unfenced(text: str) -> str:
    """The text inside code fences that wrap the whole of it; else the text, trimmed."""
    text = text.strip()
    if len(text) < 6 or not (text.startswith("```") and text.endswith("```")):
        return text
    language, line_break, rest = text[3:-3].partition("\n")
    if line_break and (not language.strip() or language.strip().isalpha()):
        return rest.strip()
    return text[3:-3].removeprefix("json").strip()
