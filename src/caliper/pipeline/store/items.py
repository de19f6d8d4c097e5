"""Encodes items as JSON, the form in which plan shards and job messages carry them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.outcome import Reason
from caliper.core.question import Item, Question, Source


def encode_item(item: Item) -> dict[str, Any]:
    """Encode an item as a JSON object that `decode_item` reads back to an equal item."""
    encode = benchmark(item.benchmark).encode
    return {
        "benchmark": item.benchmark,
        "key": item.key,
        "sample": item.sample,
        "cluster": item.cluster,
        "media": list(item.media),
        "source": str(item.source),
        "first": item.first,
        "questions": [
            {
                "ordinal": question.ordinal,
                "repeats": question.repeats,
                "unscored": question.unscored and str(question.unscored),
                "note": question.note,
                "payload": encode(question.payload),
            }
            for question in item.questions
        ],
    }


def decode_item(data: Mapping[str, Any]) -> Item:
    """Decode an item that `encode_item` wrote. Raises InvalidInput for anything else."""
    try:
        decode = benchmark(data["benchmark"]).decode
        questions = tuple(
            Question(
                ordinal=question["ordinal"],
                payload=decode(question["payload"]),
                repeats=question["repeats"],
                unscored=Reason(question["unscored"]) if question["unscored"] else None,
                note=question["note"],
            )
            for question in data["questions"]
        )
        return Item(
            benchmark=data["benchmark"],
            key=data["key"],
            sample=data["sample"],
            cluster=data["cluster"],
            media=tuple(data["media"]),
            questions=questions,
            source=Source(data["source"]),
            first=data["first"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InvalidInput(f"not an item of a plan: {error!r}") from error
