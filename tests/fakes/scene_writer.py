"""A model that describes objects, relates them, and describes them wrongly.

What it says follows from the words of a request alone. Of an object named `UNSEEN` it says nothing.
"""

import json
from itertools import pairwise
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.question_writer import words

UNSEEN = "ghost"


async def scene_writing(
    server: ChatServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Answer a request of any step."""
    text, picture = words(body)
    assert picture
    return await answer(said(text))(server, request, body)


def said(text: str) -> str:
    name = text.rpartition("The object: ")[2]
    if "relations between" in text:
        listed = text.rpartition("\n\n")[2].splitlines()[1:]
        names = [line.removeprefix("- ").partition(":")[0] for line in listed]
        return json.dumps({"relations": _relations(names)})
    if "wrong descriptions" in text:
        wrong = [{"wrong": f"a {kind} {name}"} for kind in ("paper", "golden")]
        return json.dumps({"descriptions": wrong})
    if name == UNSEEN:
        return '{"descriptions": []}'
    full = f"a plain {name} at {text.partition('height: ')[2].partition(' (')[0]}"
    return json.dumps({"descriptions": [{"short": f"a {name}", "full": full.splitlines()[0]}]})


def _relations(names: list[str]) -> list[dict[str, str]]:
    """Each object is related to the next, once to one that is not there."""
    pairs = [*pairwise(names), (names[0], "moon")]
    return [
        {"subject": subject, "object": end, "relation": f"The {subject} is near the {end}."}
        for subject, end in pairs
    ]
