"""Extract the answer from a reply: strip reasoning and code fences."""

from __future__ import annotations

import re

# Each ends at its last end mark, which a group holds.
_THOUGHT = re.compile(
    r"\s*(?:<(?P<tag>thinking|thoughts?|reasoning)>(?:.*(</(?P=tag)>))?|\[THINK\](?:.*(\[/THINK\]))?"
    r"|\u25c1think\u25b7(?:.*(\u25c1/think\u25b7))?"
    r"|(?:<\|start\|>assistant)?<\|channel\|>analysis\b(?:.*(<\|channel\|>final<\|message\|>))?)",
    re.IGNORECASE | re.DOTALL,
)


def answer_text(reply: str) -> str:
    """Return `after_thoughts`, with minus signs as hyphens."""
    return after_thoughts(reply).replace("\u2212", "-")


def after_thoughts(reply: str) -> str:
    """Return the text after the reasoning; empty if that never ends."""
    answer = reply.rpartition("</think>")[2]
    while (thought := _THOUGHT.match(answer)) and any(thought.groups()[1:]):
        answer = answer[thought.end() :]
    return "" if "<think>" in answer or thought else answer


def strip_code_fence(text: str) -> str:
    """Strip code fences that wrap the whole text; otherwise only trim it."""
    text = text.strip()
    if len(text) < 6 or not (text.startswith("```") and text.endswith("```")):
        return text
    language, line_break, rest = text[3:-3].partition("\n")
    if line_break and (not language.strip() or language.strip().isalpha()):
        return rest.strip()
    return text[3:-3].removeprefix("json").strip()
