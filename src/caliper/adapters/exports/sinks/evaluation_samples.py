"""Verdicts as the instance-level records of Every Eval Ever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from caliper.adapters.exports.sinks.evaluation_record import SCHEMA_VERSION, BenchmarkResult
from caliper.core.report import VerdictRow
from caliper.ports.sinks import Results


@dataclass(frozen=True, slots=True)
class Texts:
    """The captions of a run by benchmark and sample, for records that may hold texts."""

    captions: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, results: Results) -> Texts:
        """The captions in captions.jsonl. Raises what reading the file raises."""
        rows = map(json.loads, results.read("captions.jsonl").decode().splitlines())
        return cls({(row["benchmark"], row["sample"]): row["caption"] for row in rows})


def sample(
    evaluation: BenchmarkResult, row: VerdictRow, evaluation_name: str, texts: Texts | None
) -> dict[str, Any]:
    """The record of a verdict with a score. Without `texts` it refers to question and caption."""
    raw, reference, output = f"question {row.question_id}", [], []
    details = {"task": row.dimension, "repeat": str(row.repeat), "sample": row.sample}
    if texts is not None:
        raw, reference = row.question, [row.expected]
        caption = texts.captions.get((row.benchmark, row.sample))
        from_media = row.item.startswith("qa/")
        output = [row.reply] if from_media else [] if caption is None else [caption]
        details |= {"reply": row.reply, "explanation": row.explanation}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation.id,
        "model_id": evaluation.model,
        "evaluation_name": evaluation_name,
        "sample_id": row.question_id,
        "sample_hash": None if texts is None else _hash(raw, reference),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": reference},
        "output": {"raw": output},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": row.outcome,
                "extraction_method": row.judge,
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": row.score, "is_correct": row.outcome == "correct"},
        "metadata": details,
    }


def _hash(raw: str, reference: list[str]) -> str:
    """The hash that the format's own adapters compute."""
    text = json.dumps({"raw": raw, "reference": reference}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
