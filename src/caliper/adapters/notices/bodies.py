"""The forms of a notice: JSON for programs, and text for people."""

from __future__ import annotations

import json

from caliper.core.notices import Notice

TYPE_PREFIX = "caliper.suite."
_LONGEST_CHAT = 3_000
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def event_body(notice: Notice) -> bytes:
    """The notice as JSON: type, timestamp and data, the form of Standard Webhooks. ASCII."""
    fields = {
        "type": f"{TYPE_PREFIX}{notice.kind}",
        "timestamp": notice.time,
        "data": {"schema": 1, **notice.to_json()},
    }
    return json.dumps(fields, separators=(",", ":")).encode()


def slack_body(notice: Notice) -> bytes:
    """The notice as a message for Slack's incoming webhooks. ASCII."""
    lines = [notice.headline, notice.reason]
    text = "\n".join(filter(None, lines)).translate(_MARKUP)[:_LONGEST_CHAT]
    return json.dumps({"text": text}).encode()


def mail_text(notice: Notice) -> str:
    """The notice as the text of an e-mail."""
    lines = [notice.headline, notice.reason, ""]
    if notice.baseline:
        lines.append(f"baseline: {notice.baseline}")
    lines += [f"revision: {notice.revision}", f"run: {notice.run}"]
    for each in notice.figures:
        if each.is_headline:
            bounds = "" if each.low is None else f" ({each.low:.2f} to {each.high:.2f})"
            lines.append(f"{each.benchmark} {each.path}: {each.value:.2f}{bounds}")
    lines += [f"event: {notice.id}, {notice.time}"]
    # A lone surrogate, of a file name, has no place in a message.
    return "\n".join(lines).encode("utf-8", "replace").decode() + "\n"
