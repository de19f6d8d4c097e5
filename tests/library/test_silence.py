"""A checkpoint that is silent where it would be wrong gains nothing by it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.fakes.command import Command

import caliper
from caliper.analysis.compare import Difference

TASKS = ("character_identification", "object_category", "scene", "OCR", "spatial_relation")
WORSE = TASKS[0]
FEW, MANY = 40, 140
"""Media of the task in which the candidate is worse, and of each other one."""
Asked = Callable[[str, int], bool]
"""Whether something is so of a medium, by task and number."""
F1 = f"tasks.{WORSE}.f1"


def media(task: str) -> range:
    return range(FEW if task == WORSE else MANY)


def judge(prompts: Sequence[str]) -> list[str]:
    return [json.dumps({"score": "1" if "RIGHT" in each else "-1"}) for each in prompts]


def wrong_of_base(task: str, number: int) -> bool:
    return number % 5 == 0


def wrong_of_candidate(task: str, number: int) -> bool:
    """As the base, and in one task also every eighth medium that the base has right."""
    return wrong_of_base(task, number) or (task == WORSE and number % 8 == 1)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., caliper.Run]:
    folder = tmp_path_factory.mktemp("silence")
    model = caliper.Model(judge, name="judge", revision="1")
    rows = {
        task: [
            {"file_id": f"{task}_{n}", "file_path": f"{n}.jpg", "annotation": "a", "task": task}
            for n in media(task)
        ]
        for task in TASKS
    }
    (folder / "data").mkdir()
    for task, each in rows.items():
        (folder / "data" / f"{task}.jsonl").write_text("\n".join(map(json.dumps, each)))

    def evaluate(
        name: str,
        wrong: Callable[[str, int], bool],
        silent: Callable[[str, int], bool],
        **more: float,
    ) -> caliper.Run:
        captions = folder / name
        captions.mkdir()
        for task in TASKS:
            texts = (
                None if silent(task, n) else f"{'WRONG' if wrong(task, n) else 'RIGHT'} {task} {n}"
                for n in media(task)
            )
            lines = (
                json.dumps({"file_id": f"{task}_{n}", "caption": text})
                for n, text in enumerate(texts)
            )
            (captions / f"{task}.jsonl").write_text("\n".join(lines))
        return caliper.evaluate(
            str(captions),
            {"capability": str(folder / "data")},
            model,
            name=name,
            anchors=False,
            progress=False,
            out=str(folder / "runs" / name),
            **more,
        )

    return evaluate


@pytest.fixture(scope="module")
def runs(evaluated: Callable[..., caliper.Run]) -> dict[str, caliper.Run]:
    """`quiet` and `honest` are one checkpoint; `quiet` is silent on six of the media that it and
    the base have wrong, 1% of all, `half` on all of them.
    """
    return {
        "base": evaluated("base", wrong_of_base, lambda *_: False),
        "honest": evaluated("honest", wrong_of_candidate, lambda *_: False),
        "quiet": evaluated(
            "quiet", wrong_of_candidate, lambda task, n: task == WORSE and n % 5 == 0 and n < 30
        ),
        "half": evaluated("half", wrong_of_candidate, wrong_of_base, coverage_floor=0.5),
    }


def paths(runs: dict[str, caliper.Run], *names: str) -> list[str]:
    return [str(runs[name].path) for name in names]


def figures(runs: dict[str, caliper.Run], name: str) -> dict[str, Difference]:
    return caliper.compare(runs["base"], runs[name], anyway=True).differences[name]["capability"]


@pytest.mark.parametrize("name", ["quiet", "half"])
def test_a_difference_is_over_the_questions_scored_in_both_runs(
    runs: dict[str, caliper.Run], name: str
) -> None:
    found = figures(runs, name)[F1]
    silent = {n for n in range(FEW) if n % 5 == 0 and (n < 30 or name == "half")}
    both = [n for n in range(FEW) if n not in silent]
    scores = [
        100 * sum(not wrong(WORSE, n) for n in both) / len(both)
        for wrong in (wrong_of_base, wrong_of_candidate)
    ]
    assert found.value == pytest.approx(scores[1] - scores[0])
    assert found.value < 0 < found.second - found.first
    assert found.paired == len(both)
    assert found.first == figures(runs, "honest")[F1].first == pytest.approx(80)


def test_the_output_names_the_figures_that_are_not_over_the_same_questions(
    runs: dict[str, caliper.Run], tmp_path: Path
) -> None:
    command = Command(tmp_path)
    shown = command("compare", *paths(runs, "base", "quiet"), "--html", "page.html", code=0)
    out = " ".join(shown.out.split())
    told = "Differences over the questions scored in both runs: Character identification, average."
    assert told in out
    assert "6 unscored in one run, left out of the differences." in out
    page = (tmp_path / "page.html").read_text()
    assert page.count('<span class="note">over the questions scored in both</span>') == 3
    assert "6 unscored in one run, left out of the differences." in page
    shown = command("compare", *paths(runs, "base", "honest"), "--html", "page.html", code=0)
    assert shown.out.rstrip().endswith("0 unscored in one run.")
    assert "over the questions scored in both" not in (tmp_path / "page.html").read_text()


def test_silence_does_not_pass_a_gate(runs: dict[str, caliper.Run]) -> None:
    checks = [
        {"benchmark": "capability", "figure": figure, "max_drop": 0.1}
        for figure in (F1, "average.f1")
    ]
    policy = {"checks": checks}
    assert caliper.gate(runs["base"], runs["honest"], policy).decision == "regression"
    task, average = caliper.gate(runs["base"], runs["quiet"], policy).findings
    assert (task.decision, average.decision) == ("inconclusive", "regression")
    assert task.reason == "the candidate covers 85.0% of its questions, less than 99.0%"
    one = {"checks": checks[:1]}
    assert caliper.gate(runs["base"], runs["quiet"], one).decision == "inconclusive"
    assert caliper.gate(runs["quiet"], runs["base"], one).decision == "inconclusive"


def test_silence_does_not_lead_a_leaderboard(runs: dict[str, caliper.Run]) -> None:
    entered = [runs[name] for name in ("quiet", "half", "honest", "base")]
    (board,) = caliper.leaderboard(*entered, anyway=True)
    assert [(row.name, row.lacking) for row in board.standings] == [
        ("base", ()),
        ("honest", ()),
        ("half", ("20.0% of CAPability",)),
        ("quiet", ("15.0% of Character identification",)),
    ]
    for row in board.standings[1:]:
        assert row.behind.value == figures(runs, row.name)["average.f1"].value < 0
    assert "quiet: lacks 15.0% of Character identification; placed after complete runs" in (
        caliper.leaderboard(*entered, anyway=True).markdown
    )
    assert caliper.leaderboard(*entered, anyway=True).markdown.count("scored in both") == 2
