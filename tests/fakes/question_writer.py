"""A model that writes questions about pictures, answers them blind, and checks them.

Everything that it says follows from the words and pictures of a request, so that it says the same
in every process. Of the options that it writes, `true_option` is the right one.
"""

import hashlib
import json
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer

COLOURS = ("teal", "ochre", "crimson", "ivory")
UNREADABLE, EMPTY, KNOWN, DISPUTED = "Parts", "Absence", "Purpose", "Condition"
"""Subcategories: its reply is unreadable, holds no question, holds one that everybody can answer,
or one that it does not answer as written.
"""


def true_option(question: str) -> str:
    return max(COLOURS, key=lambda option: _hash(question + option))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def words(body: dict[str, Any]) -> tuple[str, str]:
    """The words of a request, and a digest of its pictures, empty for none."""
    parts: list[dict[str, Any]] = []
    for message in body["messages"]:
        content = message["content"]
        parts += [{"text": content}] if isinstance(content, str) else content
    pictures = [part["image_url"]["url"] for part in parts if "image_url" in part]
    text = "\n".join(part["text"] for part in parts if "text" in part)
    return text, _hash("".join(pictures))[:6] if pictures else ""


async def writing(
    server: ChatServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Answer a request of any step."""
    text, picture = words(body)
    if "Reply with JSON" in text:
        assert picture
        said = written(text.rpartition("The aspect: ")[2], picture)
    else:
        assert bool(picture) != ("cannot see" in text)
        said = chosen(text, blind=not picture)
    return await answer(said)(server, request, body)


def written(category: str, picture: str) -> str:
    """The questions about an aspect of a picture, two of them in nearly the same words."""
    name = category.partition(" - ")[2]
    if name == UNREADABLE:
        return "I see a lot of parts."
    if name == EMPTY:
        return '{"questions": []}'
    question = f"Which colour has mark {picture} that stands for {name.lower()}?"
    entries = [_entry(question)]
    if name == KNOWN:
        entries = [{"question": f"What is the {picture} sky?", "choices": ["blue", "a", "b", "c"]}]
        entries[0]["answer"] = "blue"
    if name == "Color":
        entries.append(_entry(question.replace("Which", "What")))
    if name == "Shape":
        entries.append({**_entry(question), "answer": "none of them"})
    return f"```json\n{json.dumps({'questions': entries})}\n```"


def _entry(question: str) -> dict[str, Any]:
    return {"question": question, "choices": list(COLOURS), "answer": true_option(question)}


def chosen(text: str, *, blind: bool) -> str:
    """The letter of an option: blind, that of the sky or the first; else the true one."""
    question = text.partition("Question: ")[2].partition("\n")[0]
    lines = text.partition("Options:\n")[2].partition("\n\n")[0].splitlines()
    options = {option: letter for letter, _, option in (line.partition(". ") for line in lines)}
    if "sky" in question:
        return options["blue"]
    if blind:
        return "A"
    if DISPUTED.lower() in question:
        return options["None of the options above is correct"]
    return options[true_option(question)]
