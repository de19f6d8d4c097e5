"""Handmade reports, as large and as hostile as a test needs."""

import random

from caliper.core.report import (
    BenchmarkReport,
    Coverage,
    Estimate,
    Path,
    Report,
    Table,
    TableRow,
    VerdictRow,
)
from caliper.core.suspicion import Suspicious

TASKS = ("object_number", "object_color", "OCR", "scene", "camera_angle", "event")
OUTCOMES = (("correct", 1.0), ("wrong", -1.0), ("not mentioned", 0.0), ("unscored", None))
COLUMNS = ("precision", "recall", "f1")


def capability(judge: str = "llama (tgi, 0123456789ab)") -> BenchmarkReport:
    estimates: dict[Path, Estimate] = {}
    for place, task in enumerate(TASKS):
        for column in COLUMNS:
            value = 40.0 + 7.123456789 * place
            estimates["tasks", task, column] = Estimate(value, value - 4, value + 5, "jackknife")
        estimates["tasks", task, "n_scored"] = Estimate(100 - place)
    for column in COLUMNS:
        estimates["average", column] = Estimate(61.5, 58.25, 64.125, "jackknife")
    estimates["tasks", "OCR", "precision"] = Estimate(None)
    rows = [
        TableRow(task, tuple(("tasks", task, column) for column in (*COLUMNS, "n_scored")))
        for task in TASKS
    ]
    average = tuple(("average", column) for column in COLUMNS)
    rows.append(TableRow("average", (*average, None)))
    table = Table("Tasks", ("Precision", "Recall", "F1", "Scored"), tuple(rows), "Per cent.", 2)
    return BenchmarkReport(
        "capability",
        "CAPability",
        ("average", "f1"),
        estimates,
        (table,),
        Coverage(610, 596, {"bad_ground_truth": 10, "unreadable": 3, "timeout": 1}),
        {"reply_reading": "lenient", "category_labels": "any"},
        {"judge": judge},
        ("Replies were read leniently.",),
    )


def captionqa() -> BenchmarkReport:
    domains = ("natural", "document", "ecommerce", "embodiedai")
    estimates: dict[Path, Estimate] = {("overall", "score"): Estimate(71.25, 69.5, 73.0, "cluster")}
    for place, domain in enumerate(domains):
        estimates["domains", domain, "score"] = Estimate(66.0 + 3 * place, 62.0, 80.0, "cluster")
    rows = tuple(TableRow(domain, (("domains", domain, "score"),)) for domain in domains)
    return BenchmarkReport(
        "captionqa",
        "CaptionQA",
        ("overall", "score"),
        estimates,
        (Table("Domains", ("Score",), rows, chart=0),),
        Coverage(400, 400),
        {"reading": "lenient"},
        {"reader": "words (lexical, fedcba987654)"},
        suspicious=Suspicious(3, 250, {"instruction": 2, "hidden": 1}),
    )


def report(state: str = "complete", name: str = "My checkpoint 7B") -> Report:
    spec = {"seed": 0, "pack": {"name": "caliper", "digest": "ab" * 32}}
    return Report(name, state, (capability(), captionqa()), spec)


def verdict(index: int, **changes: object) -> VerdictRow:
    outcome, score = OUTCOMES[index % 4]
    row = {
        "index": index,
        "benchmark": "capability",
        "dimension": TASKS[index % len(TASKS)],
        "item": f"{TASKS[index % len(TASKS)]}/{index}",
        "sample": f"sample{index // 2}",
        "cluster": f"images/{index // 2}.jpg",
        "media": (f"images/{index // 2}.jpg",),
        "question_id": f"{index:032x}",
        "question": "Does the caption state the annotated element?",
        "expected": "two red cars",
        "repeat": 0,
        "outcome": outcome,
        "score": score,
        "reason": "" if score is not None else "unreadable",
        "explanation": "The caption says three.",
        "reply": '{"score": -1, "reason": "The caption says three."}',
        "repaired": index % 5 == 0,
        "judge": "llama (tgi, 0123456789ab)",
    }
    return VerdictRow(**(row | changes))  # type: ignore[arg-type]


def verdicts(count: int) -> list[VerdictRow]:
    """Verdicts of two benchmarks with all outcomes, not in plan order."""
    draw = random.Random(4)
    rows = [
        verdict(index, benchmark=("capability", "captionqa")[index // 4 % 2])
        for index in range(count)
    ]
    draw.shuffle(rows)
    return rows
