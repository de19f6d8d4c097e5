from __future__ import annotations

import re
from pathlib import Path

from tests.lexical.test_agreement import judged_inline, kappa

from caliper.benchmarks.capability.lexical_agreement import MEASURED
from caliper.benchmarks.capability.tasks import NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "lexical.md").read_text("utf-8")


def test_the_measured_agreement_is_that_of_the_source() -> None:
    rows = re.findall(r"^\| (\w+) \| (\d\.\d\d) \| (\d\.\d\d) \|$", PAGE, re.MULTILINE)
    assert rows == [
        (task, f"{found.kappa:.2f}", f"{found.rank:.2f}") for task, found in MEASURED.items()
    ]
    assert tuple(task for task, *_ in rows) == NAMES


def test_colours_and_counts_agree_as_the_page_says() -> None:
    found = {task: figure for figure, task in re.findall(r"(\d\.\d\d) \((\w+)\)", PAGE)}
    assert found == {
        task: f"{kappa(pairs):.2f}" for task, pairs in judged_inline("held_out").items()
    }
