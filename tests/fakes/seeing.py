"""A checkpoint that sees: it writes captions, and answers questions from the media."""

import json
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer


def asks_letter(body: dict[str, Any]) -> bool:
    """Whether a request is a question with options, and not one for a caption."""
    return "letter" in json.dumps(body["messages"])


async def seeing(
    server: ChatServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Captions whatever it is shown, and takes the first option of every question."""
    assert "image_url" in json.dumps(body["messages"])
    text = "A" if asks_letter(body) else "A man in an orange suit in front of a flag."
    return await answer(text)(server, request, body)
