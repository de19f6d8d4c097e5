"""Runs over the examples that give every stage enough work, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.sources import EXAMPLES

from caliper.adapters.exports.jsonl import record
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.local.config import RunConfig, read_config
from caliper.pipeline.reports.verdict_query import VerdictQuery


def example(*more: str, name: str = "small") -> RunConfig:
    """A small run with a captioner, a judge and a reader, each with enough work.

    `more` are further benchmarks of the examples. A few replies may be unreadable: the run is still
    complete.
    """
    config = read_config(EXAMPLES / "careful.yaml")
    captioning = {"captions": None, "captioner": MODEL}
    parts = {
        "capability": config.benchmarks["capability"],
        "captionqa": config.benchmarks["captionqa"].model_copy(update=captioning),
        **{each: config.benchmarks[each] for each in more},
    }
    return config.model_copy(update={"name": name, "benchmarks": parts, "coverage_floor": 0.95})


def local(config: RunConfig, chats: Mapping[str, ChatServer]) -> RunConfig:
    """The same run for one process, which calls the same models itself."""
    specs = {kind: f"tgi:{chat.url}" for kind, chat in chats.items()}
    own = {
        "capability": {"judge": specs["judge"]},
        "captionqa": {"reader": specs["qa_reader"], "captioner": specs["captioner"]},
        "comprecap": {"judge": specs["judge"]},
    }
    parts = {name: part.model_copy(update=own[name]) for name, part in config.benchmarks.items()}
    return config.model_copy(update={"benchmarks": parts, "anchors": False})


def standing(row: dict[str, Any]) -> dict[str, Any]:
    """The question and outcome of a row of verdicts.jsonl, without the explanation of a failure,
    which may contain the path of media.
    """
    names = ("index", "benchmark", "question_id", "repeat", "outcome", "score", "reason", "reply")
    return {name: row[name] for name in names}


async def rows_of(gateway: RemoteGateway, run: str) -> list[dict[str, Any]]:
    """Every verdict of a run from the gateway, reduced by `standing`."""
    collected, token = list[dict[str, Any]](), ""
    while True:
        rows, token = await gateway.verdicts(run, VerdictQuery(size=1000, token=token))
        collected += [standing(record(row)) for row in rows]
        if not token:
            return collected
