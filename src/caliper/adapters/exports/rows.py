"""The columns of verdicts.jsonl and verdicts.parquet."""

from __future__ import annotations

from typing import Any

from caliper.core.report import VerdictRow


def record(row: VerdictRow) -> dict[str, Any]:
    """One verdict row by column name, in column order.

    `task` is the dimension and `sample_id` the sample: the papers' terms. If `score` is None,
    `reason` says why.
    """
    return {
        "index": row.index,
        "benchmark": row.benchmark,
        "task": row.dimension,
        "item": row.item,
        "sample_id": row.sample,
        "cluster": row.cluster,
        "media": list(row.media),
        "question_id": row.question_id,
        "question": row.question,
        "expected": row.expected,
        "repeat": row.repeat,
        "outcome": row.outcome,
        "score": row.score,
        "reason": row.reason,
        "explanation": row.explanation,
        "reply": row.reply,
        "repaired": row.repaired,
        "judge": row.judge,
    }
