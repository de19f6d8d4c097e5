"""Questions with known answers, from a benchmark's own files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from caliper.benchmarks.base import CheckQuestion, Settings
from caliper.benchmarks.registry import benchmark, resources


@cache
def questions_of(name: str, file: str) -> tuple[Mapping[str, Any], ...]:
    """The questions in a benchmark's `anchors.yaml` or `canary.yaml`.

    Empty if there is no such file, or the benchmark plans no check questions.
    """
    path = files(resources(name)) / file
    if benchmark(name).check_question is None or not path.is_file():
        return ()
    return tuple(yaml.safe_load(path.read_text("utf-8"))["questions"])


def plan_question(name: str, question: Mapping[str, Any], settings: Settings) -> CheckQuestion:
    """Plan one of these questions. Raises LookupError if the benchmark plans none."""
    check_question = benchmark(name).check_question
    if check_question is None:
        raise LookupError(f"{name} has no questions with known answers")
    return check_question(question, settings)
