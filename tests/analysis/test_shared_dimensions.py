"""Averages of runs of which one lacks tasks, domains or parts that the other has."""

from collections.abc import Mapping, Sequence

import pytest

from caliper.analysis.compare import Difference, compare
from caliper.benchmarks.registry import benchmark
from caliper.core.report import Path
from caliper.core.tally import Tally

TASKS = {"scene": [1, 1, 0, -1], "OCR": [1, 0, 0, -1], "event": [1, -1, 1, 1]}
DOMAINS = {"natural": [1, 1, 0, 1], "document": [0, 0, 1, 0], "ecommerce": [1, 1, 1, 0]}


def tasks(found: Mapping[str, Sequence[int]]) -> Tally:
    tally = Tally()
    for task, scores in found.items():
        for place, score in enumerate(scores):
            amounts = {"scored": 1, "hit": int(score != 0), "correct": int(score == 1)}
            tally.add(f"caption/{task}/0", f"{task}-{place}", **amounts, unscored=0)
    return tally


def domains(found: Mapping[str, Sequence[int]]) -> Tally:
    tally = Tally()
    for domain, scores in found.items():
        for place, score in enumerate(scores):
            amounts = {"scored": 1, "points": score, "correct": score, "offered": 0, "cannot": 0}
            tally.add(f"caption/{domain}", f"{domain}-{place}", **amounts, unscored=0)
    return tally


def compared(name: str, first: Tally, second: Tally) -> dict[Path, Difference]:
    layouts = [benchmark(name).report(tally, {}).figures for tally in (first, second)]
    return compare(layouts[1], first, second, layouts[0])


def without(found: Mapping[str, Sequence[int]], *names: str) -> dict[str, Sequence[int]]:
    return {name: scores for name, scores in found.items() if name not in names}


WORSE = {name: [*scores[1:], 0] for name, scores in TASKS.items()}


@pytest.mark.parametrize("lacking", [0, 1])
@pytest.mark.parametrize("metric", ["f1", "precision", "recall"])
def test_an_average_is_compared_over_the_tasks_that_both_have(lacking: int, metric: str) -> None:
    sides = [tasks(TASKS), tasks(WORSE)]
    sides[lacking] = tasks(without((TASKS, WORSE)[lacking], "event"))
    found = compared("capability", *sides)["average", metric]
    shared = compared("capability", tasks(without(TASKS, "event")), tasks(without(WORSE, "event")))[
        "average", metric
    ]
    numbers = ("first", "second", "value", "low", "high", "p", "clusters", "paired")
    assert [getattr(found, name) for name in numbers] == [getattr(shared, name) for name in numbers]
    assert (found.over, found.without) == (("scene", "OCR"), ("event",))
    assert (shared.over, shared.without) == ((), ())


def test_a_task_whose_questions_have_no_score_is_lacking() -> None:
    second = tasks(without(WORSE, "event"))
    for place in range(4):
        second.add("caption/event/0", f"event-{place}", scored=0, hit=0, correct=0, unscored=1)
    found = compared("capability", tasks(TASKS), second)["average", "f1"]
    assert found.without == ("event",)


def test_each_lacks_one() -> None:
    found = compared("capability", tasks(without(TASKS, "OCR")), tasks(without(WORSE, "event")))[
        "average", "f1"
    ]
    assert (found.over, found.without) == (("scene",), ("event", "OCR"))


def test_nothing_is_shared() -> None:
    sides = tasks({"OCR": TASKS["OCR"]}), tasks({"event": TASKS["event"]})
    found = compared("capability", *sides)["average", "f1"]
    assert (found.value, found.over, found.without) == (None, (), ("OCR", "event"))


@pytest.mark.parametrize("lacking", [0, 1])
@pytest.mark.parametrize("path", [("overall", "score"), ("overall_by", "questions", "accuracy")])
def test_an_overall_is_compared_over_the_domains_that_both_have(lacking: int, path: Path) -> None:
    worse = {name: [*scores[1:], 0] for name, scores in DOMAINS.items()}
    sides = [domains(DOMAINS), domains(worse)]
    sides[lacking] = domains(without((DOMAINS, worse)[lacking], "document"))
    found = compared("captionqa", *sides)[path]
    shared = compared(
        "captionqa", domains(without(DOMAINS, "document")), domains(without(worse, "document"))
    )[path]
    assert (found.first, found.second, found.low) == (shared.first, shared.second, shared.low)
    assert found.value is not None
    assert (found.over, found.without) == (("natural", "ecommerce"), ("document",))


def test_s_unified_without_a_part_is_not_compared() -> None:
    sides = (Tally(), Tally())
    for run, tally in enumerate(sides):
        for place in range(4):
            tally.add("objects", f"p{place}", sum=place % 2, n=1, scored=1, unscored=0)
            tally.add("attribute/0", f"p{place}", sum=place, n=1, scored=1, unscored=0)
            if run:
                tally.add("relation/0", f"p{place}", sum=place, n=1, scored=1, unscored=0)
    found = compared("comprecap", *sides)["s_unified",]
    assert (found.value, found.without) == (None, ("s_relation",))
