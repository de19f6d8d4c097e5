from collections import Counter
from dataclasses import replace
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import runs
from tests.fakes.stores import MemoryStore

from caliper.analysis.draw_order import Unit, spread
from caliper.core.outcome import Reason
from caliper.core.question import Item
from caliper.core.run import Identity, RunSpec
from caliper.pipeline.store.plan import plan_items
from caliper.pipeline.store.share import caption_seed, in_part

SPEC = runs.spec(runs.part("captionqa", captions="a" * 64))
FOUND = {"captionqa": runs.sources(runs.choice_rows(20, 5), {})}


def items_of(spec: RunSpec) -> list[Item]:
    (part,) = spec.benchmarks
    return plan_items(spec, part, FOUND[part.name])


def drawn(items: list[Item]) -> set[tuple[str, int]]:
    return {
        (item.key, question.ordinal)
        for item in items
        for question in item.questions
        if question.unscored is not Reason.NOT_DRAWN
    }


@pytest.mark.parametrize("share", [0.001, 0.2, 0.5, 0.99])
def test_a_share_of_every_stratum_is_drawn_and_no_index_moves(share: float) -> None:
    whole, part = items_of(SPEC), items_of(replace(SPEC, judge_share=share))
    assert [item.size for item in part] == [item.size for item in whole]
    asked = {key for key, _ in drawn(part)}
    domains = {item.key: item.questions[0].payload.domain for item in whole}
    planned = Counter(domains[item.key] for item in whole for _ in item.questions)
    found = Counter(domains[key] for key, _ in drawn(part))
    assert found == {name: ceil(share * number) for name, number in planned.items()}
    assert share < 0.2 or asked == set(domains)


async def test_the_draw_is_the_plans_and_the_same_twice() -> None:
    spec = replace(SPEC, judge_share=0.3)
    planned = await runs.planned(spec, FOUND, MemoryStore())
    assert drawn(planned.items) == drawn(items_of(spec))


def test_other_captions_and_seeds_give_other_draws_and_a_larger_share_contains_a_smaller() -> None:
    (part,) = SPEC.benchmarks
    seeds = {
        caption_seed(part, 0),
        caption_seed(part, 1),
        caption_seed(replace(part, captions="b" * 64), 0),
        *(
            caption_seed(
                replace(part, captions=None, models={"captioner": Identity("tgi", "m", name)}), 0
            )
            for name in ("1", "2")
        ),
    }
    draws = [drawn(list(in_part(items_of(SPEC), 0.3, seed))) for seed in sorted(seeds)]
    assert len(draws) == 5
    assert len({frozenset(each) for each in draws}) == 5
    seed = min(seeds)
    larger = drawn(list(in_part(items_of(SPEC), 0.6, seed)))
    assert drawn(list(in_part(items_of(SPEC), 0.3, seed))) < larger


def test_an_indivisible_item_is_drawn_whole() -> None:
    spec = runs.spec(runs.part("comprecap"), judge_share=0.4)
    (part,) = spec.benchmarks
    found = runs.sources(runs.scene_graph_rows(5), {})
    items = plan_items(spec, part, found)
    marks = [{question.unscored for question in item.questions} for item in items]
    assert sorted(map(len, marks)) == [1] * 5
    assert marks.count({None}) == 2


def test_what_cannot_be_asked_is_not_drawn_and_keeps_its_reason() -> None:
    items = items_of(SPEC)
    broken = replace(items[0].questions[0], unscored=Reason.BAD_INPUT)
    items[0] = replace(items[0], questions=(broken, *items[0].questions[1:]))
    part = list(in_part(items, 0.3, "seed"))
    assert part[0].questions[0].unscored is Reason.BAD_INPUT


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(0, 9))
def test_every_medium_has_its_share_of_any_beginning(sizes: list[int], seed: int) -> None:
    media = [medium for medium, size in enumerate(sizes) for _ in range(size)]
    units = [Unit(index, "task", str(medium)) for index, medium in enumerate(media)]
    order = spread(units, str(seed).encode())
    assert sorted(order) == list(range(len(media)))
    for end in range(len(order) + 1):
        share = end / len(order)
        found = Counter(media[index] for index in order[:end])
        assert all(abs(found[one] - share * size) <= 2 for one, size in enumerate(sizes))


def test_what_is_drawn_is_what_a_comparison_would_ask_first() -> None:
    items = items_of(SPEC)
    places = [(item, question.ordinal) for item in items for question in item.questions]
    strata: dict[str, list[Unit]] = {}
    for index, (item, _) in enumerate(places):
        domain = item.questions[0].payload.domain
        strata.setdefault(domain, []).append(Unit(index, domain, item.cluster))
    first = {
        (places[index][0].key, places[index][1])
        for units in strata.values()
        for index in spread(units, b"seed")[: ceil(0.3 * len(units))]
    }
    assert drawn(list(in_part(items, 0.3, "seed"))) == first
