"""A multimodal checkpoint: writes captions, and answers questions about the media."""

import json
from typing import Any

from aiohttp import web
from tests.fakes.chat_server import ChatServer, answer
from tests.fakes.sources import EXAMPLES

from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig

MEDIA = EXAMPLES / "media"


def asks_letter(body: dict[str, Any]) -> bool:
    """Whether a request is a multiple-choice question rather than a request for a caption."""
    return "letter" in json.dumps(body["messages"])


async def seeing(
    server: ChatServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Caption every sample, and take the first option of every question."""
    assert "image_url" in json.dumps(body["messages"])
    text = "A" if asks_letter(body) else "A man in an orange suit in front of a flag."
    return await answer(text)(server, request, body)


def asked_live(captioner: str, **changes: Any) -> RunConfig:
    """All three benchmarks, captioned and answered by one checkpoint."""
    data: dict[str, dict[str, Any]] = {
        "capability": {"data": EXAMPLES / "capability", "qa": EXAMPLES / "capability_qa"},
        "captionqa": {"data": EXAMPLES / "captionqa" / "questions.json", "qa": True},
        "comprecap": {
            "data": EXAMPLES / "comprecap" / "anno.json",
            "qa": EXAMPLES / "comprecap",
            "media": MEDIA / "images",
        },
    }
    parts = {
        name: BenchmarkConfig(**{"media": MEDIA, "captioner": captioner, **given})
        for name, given in data.items()
    }
    return RunConfig(
        **{"name": "seeing", "benchmarks": parts, "limit": 1, "coverage_floor": 0.5, **changes}
    )
