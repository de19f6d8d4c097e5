"""A deterministic model: it answers prompts of judges, readers and captioners, always gives the
same reply to the same question, and optionally fails now and then.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer, status

_REFUSES_EVERY = 40
"""Requests, of which the last is refused for overload: asked again, it is answered."""
_LONG = 130
_CATEGORIES = re.compile(r"categories: (\[.*\])")
_CAPTION = re.compile(r"(?:Caption|Sentence):\s*(.+)")
_OPTIONS = re.compile(r"^\s*([A-Z])[.)]", re.MULTILINE)


def opinion(prompt: str) -> str:
    """The reply to a prompt; one in 48 is useless. Long captions get kinder judgements."""
    drawn = int(hashlib.sha256(prompt.encode()).hexdigest()[:8], 16)
    if drawn % 48 == 0:
        return "I would rather not say."
    about = _CAPTION.search(prompt)
    kind = drawn % 100 < (88 if about and len(about[1]) > _LONG else 60)
    if "from 0 to 5" in prompt:
        return str(3 + drawn % 3 if kind else drawn % 3)
    if match := _CATEGORIES.search(prompt):
        categories = [*ast.literal_eval(match[1]), "N/A"]
        return json.dumps({"pred": categories[drawn % len(categories)], "reason": "it says so"})
    if '"score"' in prompt:
        return json.dumps({"score": "1" if kind else str(-(drawn % 2)), "reason": "it seems so"})
    if options := _OPTIONS.findall(prompt):
        return str(options[drawn % (2 if kind else len(options))])
    return f"A picture with {drawn % 7} chairs, two lamps and a window. " * 4


async def steadfast(
    server: ChatServer, request: web.Request, asked: dict[str, Any]
) -> web.StreamResponse:
    """A step of a ChatServer: the opinion on the prompt, however often it is asked."""
    texts = [_text(message["content"]) for message in asked["messages"]]
    reply = answer(opinion("\n".join(texts)), model=server.models[0])
    return await reply(server, request, asked)


async def opinionated(
    server: ChatServer, request: web.Request, asked: dict[str, Any]
) -> web.StreamResponse:
    """A step of a ChatServer: the same, except for requests that it refuses as overloaded."""
    if len(server.requests) % _REFUSES_EVERY == 0:
        return await status(429, retry_after="0")(server, request, asked)
    return await steadfast(server, request, asked)


def _text(content: Any) -> str:
    """The content of a message as text, with media by digest, so that captions differ as pictures
    do.
    """
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or _digest(part) for part in content)


def _digest(part: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(part, sort_keys=True).encode()).hexdigest()
