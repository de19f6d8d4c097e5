"""Models that list visual elements of media, and merge lists. What they say follows from a request
alone.
"""

import json
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer, Step, answer
from tests.fakes.question_writer import words


def annotating(color: str, cup: str = "cup") -> Step:
    """A model that sees three objects, of which the cup, as it calls it, has this color, and cannot
    tell styles. Of a list, it holds the last two names for the same.
    """

    async def step(
        server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        text, pictures = words(body)
        assert bool(pictures) != ("you do not see" in text)
        if not pictures:
            quoted = text.rpartition("\n\n")[2].partition("</")[0]
            names = [line[2:] for line in quoted.splitlines()[1:]]
            said = json.dumps({"groups": [{"same": [*names[-2:], "moon"]}]})
        else:
            said = listed(text.rpartition("The aspect: ")[2], (cup, color))
        return await answer(said)(server, request, body)

    return step


def listed(aspect: str, cup: tuple[str, str]) -> str:
    pairs = [("saucer", "white"), ("spoon", "silver"), cup]
    if aspect.startswith("every object with a clear color"):
        entries = [{"object": name, "value": value} for name, value in pairs]
    elif aspect.startswith("every object"):
        entries = [{"value": name} for name, _ in pairs]
    elif "camera angle" in aspect:
        entries = [{"value": "High Angle"}]
    elif "style" in aspect:
        return "I would say that it is a photograph."
    elif "movement of the camera" in aspect:
        entries = [{"value": "sideways"}]
    else:
        entries = []
    return json.dumps({"elements": entries})
