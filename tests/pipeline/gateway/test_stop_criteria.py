"""What may end a run once its answer is sure."""

from dataclasses import asdict, replace
from math import inf, nan
from typing import Any

import pytest
from tests.fakes.boards import Front

from caliper.analysis.gate import Check, Policy
from caliper.core.errors import InvalidInput, NotComparable, NotReady
from caliper.core.terms import Terms
from caliper.pipeline.ledger.stop_criterion import CRITERION, StopCriterion, read_criterion
from caliper.pipeline.store.runs import END, run_store, write_json

CHECK = Check("captionqa", "overall.score", max_drop=1.0)
POLICY = Policy((CHECK,))


async def complete_run(front: Front, state: str = "complete", **changes: Any) -> str:
    """The id of a run that has ended."""
    begun, _ = await (await front.gateway()).start(replace(front.asked, **changes))
    run = begun.spec.run_id
    await write_json(run_store(front.store, run), END, state=state, start=1)
    return run


@pytest.mark.parametrize("policy", [None, POLICY])
async def test_a_start_stores_it_beside_the_spec(policy: Policy | None) -> None:
    front = Front()
    criterion = StopCriterion(await complete_run(front), policy, 1.0, 0.05)
    asked = replace(front.asked, name="next", judging=criterion)
    begun, created = await (await front.gateway()).start(asked)
    assert created
    assert begun.spec.judging == criterion.digest
    store = run_store(front.store, begun.spec.run_id)
    assert await read_criterion(store, begun.spec) == criterion
    again, created = await (await front.gateway()).start(asked)
    assert (again.spec, created) == (begun.spec, False)
    await write_json(store, CRITERION, **asdict(replace(criterion, base="another")))
    with pytest.raises(InvalidInput, match=r"judging\.json: does not match the spec"):
        await read_criterion(store, begun.spec)
    other = replace(front.asked, name="next")
    assert (await (await front.gateway()).start(other))[0].spec.judging == ""


@pytest.mark.parametrize(
    ("changes", "more", "told"),
    [
        ({"margin": None}, {}, "judging: it needs a policy or a margin"),
        ({"margin": nan}, {}, "judging: its margin is not a number"),
        ({"level": 0.5}, {}, "judging: its level is not between 0 and 0.5"),
        ({"policy": Policy(())}, {}, "policy: it has no checks"),
        ({"policy": Policy((replace(CHECK, max_drop=inf),))}, {}, "policy: a drop is not a number"),
        ({"base": "0" * 16}, {}, "judging.base: no run '0000000000000000'"),
        ({"base": "../x"}, {}, "judging.base: no run '../x'"),
        ({"repeats": "1" * 16}, {}, "judging.repeats: no run '1111111111111111'"),
        ({}, {"terms": Terms(calls=5)}, "judging: not with a cap on calls"),
        ({}, {"judge_share": 0.5}, "judging: not with a judge share"),
    ],
)
async def test_what_cannot_be_judged_in_sequence_is_refused(
    changes: dict[str, Any], more: dict[str, Any], told: str
) -> None:
    front = Front()
    criterion = replace(StopCriterion(await complete_run(front), None, 1.0, 0.05), **changes)
    asked = replace(front.asked, name="next", judging=criterion, **more)
    with pytest.raises(InvalidInput) as refused:
        await (await front.gateway()).start(asked)
    assert told in str(refused.value)


async def test_a_baseline_is_complete_and_comparable() -> None:
    front = Front()
    for state in ("finished", "decided", "failed"):
        run = await complete_run(front, state, name=state)
        asked = replace(front.asked, judging=StopCriterion(run, None, 1.0, 0.05))
        with pytest.raises(NotReady, match=f"is {state}, not complete"):
            await (await front.gateway()).start(asked)
    run = await complete_run(front, seed=1)
    asked = replace(front.asked, name="next", judging=StopCriterion(run, None, 1.0, 0.05))
    with pytest.raises(NotComparable, match="seed"):
        await (await front.gateway()).start(asked)
