"""A judge of numbered samples that fails for some."""

import json
import re
from typing import Any

from aiohttp import web
from tests.fakes import chat_server as fake
from tests.fakes.chat_server import ChatServer, Step

BROKEN = frozenset({1, 4, 7})
SCORES = (1, -1, 0)


def number_asked(body: Any) -> int:
    """The number of the sample in a request: its caption ends in the sample's id."""
    match = re.search(r"s(\d{5})", json.dumps(body["messages"]))
    assert match is not None
    return int(match[1])


def judging(trouble: Step | None = None) -> Step:
    """Judge every sample by its number; the broken ones fail instead."""

    async def step(
        server: ChatServer, request: web.Request, asked: dict[str, Any]
    ) -> web.StreamResponse:
        number = number_asked(asked)
        if trouble is not None and number in BROKEN:
            return await trouble(server, request, asked)
        verdict = json.dumps({"score": SCORES[number % 3], "reason": "so it is"})
        return await fake.answer(verdict)(server, request, asked)

    return step
