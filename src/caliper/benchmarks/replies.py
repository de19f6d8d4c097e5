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
    """Return the text after the reasoning, with minus signs as hyphens.

    Empty if the reasoning never ends.
    """
    answer = reply.rpartition("</think>")[2].replace("\u2212", "-")
    while thought := _THOUGHT.match(answer):
        if not any(thought.groups()[1:]):
            return ""
        answer = answer[thought.end() :]
    return "" if "<think>" in answer else answer


def strip_code_fence(text: str) -> str:
    """Strip code fences that wrap the whole text; otherwise only trim it."""
    text = text.strip()
    if len(text) < 6 or not (text.startswith("```") and text.endswith("```")):
        return text
    language, line_break, rest = text[3:-3].partition("\n")
    if line_break and (not language.strip() or language.strip().isalpha()):
        return rest.strip()
    return text[3:-3].removeprefix("json").strip()
