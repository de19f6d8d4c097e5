import itertools
from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.stores import MemoryLog

from caliper.core.errors import InvalidInput
from caliper.core.outcome import Evidence, Reason, Scored, Unscored, Verdict, better
from caliper.core.question import Item, Question
from caliper.pipeline.ledger.ledger import Ledger, OutcomeChange

SIZE = 4
BIG = 2**63
FRACTIONS = st.sampled_from(
    [Fraction(0), Fraction(-1), Fraction(1, 3), Fraction(BIG - 1), Fraction(-BIG),
     Fraction(BIG, 3), Fraction(1, BIG + 1), Fraction(10**40, 7)]
)  # fmt: skip
VERDICTS = st.builds(
    Verdict,
    st.integers(0, SIZE - 1),
    st.builds(Scored, FRACTIONS, st.booleans()) | st.builds(Unscored, st.sampled_from(Reason)),
    st.builds(Evidence, st.sampled_from(["", "a", "\ud800\n"]), st.sampled_from(["", "b"])),
)
LISTS = st.lists(VERDICTS, max_size=12)


def filled(*batches: list[Verdict]) -> Ledger:
    ledger = Ledger(SIZE, MemoryLog())
    for batch in batches:
        ledger.merge(batch)
    return ledger


def standing(ledger: Ledger) -> list[Verdict | None]:
    return [
        None if ledger.outcome(index) is None else ledger.verdict(index) for index in range(SIZE)
    ]


def expected(verdicts: list[Verdict]) -> list[Verdict | None]:
    """What must stand, by the definition and nothing else."""
    rivals = [[one for one in verdicts if one.index == index] for index in range(SIZE)]
    kept = [reduce(better, those) if those else None for those in rivals]
    # A question that is not drawn is known, and has no outcome.
    return [one if one and one.outcome != Unscored(Reason.NOT_DRAWN) else None for one in kept]


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[list[Verdict], list[list[Verdict]]]:
    """Verdicts, and batches in which they come: in another order, with duplicates."""
    verdicts = draw(LISTS)
    extra = draw(st.lists(st.sampled_from(verdicts), max_size=6)) if verdicts else []
    order = draw(st.permutations(verdicts + extra))
    cuts = sorted(draw(st.lists(st.integers(0, len(order)), max_size=4)))
    ends = [0, *cuts, len(order)]
    return verdicts, [order[a:b] for a, b in itertools.pairwise(ends)]


@given(deliveries())
def test_duplicates_order_and_batches_change_nothing(
    delivered: tuple[list[Verdict], list[list[Verdict]]],
) -> None:
    verdicts, batches = delivered
    ledger = filled(*batches)
    assert standing(ledger) == expected(verdicts)
    for index, verdict in enumerate(expected(verdicts)):
        assert ledger.outcome(index) == (verdict.outcome if verdict else None)
    assert ledger.known == len({verdict.index for verdict in verdicts})


@given(LISTS)
def test_the_log_alone_gives_the_same_ledger(verdicts: list[Verdict]) -> None:
    log = MemoryLog()
    ledger = Ledger(SIZE, log)
    for verdict in verdicts:
        ledger.merge([verdict])
    resumed = Ledger(SIZE, log)
    resumed.enter(enumerate(log.verdicts))
    assert standing(resumed) == standing(ledger)
    assert (resumed.known, resumed.finished) == (ledger.known, ledger.finished)
    assert resumed.count(0, SIZE) == ledger.count(0, SIZE)


@given(LISTS)
def test_what_is_known_already_is_not_written_again(verdicts: list[Verdict]) -> None:
    log = MemoryLog()
    ledger = Ledger(SIZE, log)
    ledger.merge(verdicts)
    written = len(log.verdicts)
    assert ledger.merge(verdicts) == []
    assert len(log.verdicts) == written


@pytest.mark.parametrize("reason", Reason)
def test_a_worse_verdict_replaces_nothing(reason: Reason) -> None:
    scored = Verdict(1, Scored(Fraction(1)))
    trouble = Verdict(1, Unscored(reason))
    ledger = filled([scored])
    assert ledger.merge([trouble]) == []
    assert ledger.verdict(1) == scored


@pytest.mark.parametrize(
    ("stands", "other"),
    [
        # Of two that may have passed the smaller canonical bytes.
        (Reason.BACKEND, Reason.TIMEOUT),
        # One that will not come out otherwise is not asked about any more.
        (Reason.UNREADABLE, Reason.BACKEND),
        (Reason.REFUSED, Reason.MEDIA_MISSING),
    ],
)
def test_of_two_reasons_one_stands_in_any_order_until_there_is_a_score(
    stands: Reason, other: Reason
) -> None:
    first, second = (Verdict(1, Unscored(reason)) for reason in (stands, other))
    for order in ([first, second], [second, first]):
        ledger = filled(order)
        assert ledger.verdict(1) == first
        assert ledger.retryable() == ({1} if stands in PASSING else set())
        assert len(ledger.merge([Verdict(1, Scored(Fraction(0)))])) == 1
        assert ledger.merge([first, second]) == []
        assert ledger.outcome(1) == Scored(Fraction(0))


@pytest.mark.parametrize("reason", Reason)
def test_a_score_heals_trouble(reason: Reason) -> None:
    ledger = filled([Verdict(1, Unscored(reason))])
    assert len(ledger.merge([Verdict(1, Scored(Fraction(-1)))])) == 1
    assert ledger.outcome(1) == Scored(Fraction(-1))
    assert ledger.known == 1


def test_a_worse_verdict_in_the_same_batch_replaces_nothing() -> None:
    ledger = filled([Verdict(1, Scored(Fraction(1))), Verdict(1, Unscored(Reason.TIMEOUT))])
    assert ledger.outcome(1) == Scored(Fraction(1))


@pytest.mark.parametrize("index", [-1, SIZE, 10**9, 2**70])
def test_an_index_of_another_plan(index: int) -> None:
    log = MemoryLog()
    ledger = Ledger(SIZE, log)
    good = Verdict(0, Scored(Fraction(1)))
    with pytest.raises(InvalidInput, match="is not of this plan"):
        ledger.merge([good, Verdict(index, Scored(Fraction(1)))])
    assert (log.verdicts, ledger.known) == ([], 0)
    log.append([Verdict(index, Scored(Fraction(1)))])
    with pytest.raises(InvalidInput, match="is not of this plan"):
        Ledger(SIZE, log).enter(enumerate(log.verdicts))


def test_scores_beyond_64_bits_are_kept_exactly() -> None:
    scores = [Fraction(10**40, 7), Fraction(-(2**63)), Fraction(1, 2**63), Fraction(2**63 - 1)]
    ledger = filled([Verdict(index, Scored(score)) for index, score in enumerate(scores)])
    assert [ledger.outcome(index) for index in range(SIZE)] == [Scored(score) for score in scores]
    assert len(ledger.merge([Verdict(0, Scored(Fraction(-1)))])) == 1
    assert ledger.outcome(0) == Scored(Fraction(-1))


def test_nothing_is_known_at_first() -> None:
    ledger = filled()
    assert not ledger.finished
    assert ledger.outcome(0) is None
    with pytest.raises(KeyError):
        ledger.verdict(0)
    assert ledger.count(0, SIZE) == (0, {})


def test_finished_when_every_index_has_an_outcome() -> None:
    ledger = filled([Verdict(index, Unscored(Reason.REFUSED)) for index in range(SIZE - 1)])
    assert not ledger.finished
    ledger.merge([Verdict(SIZE - 1, Scored(Fraction(0)))])
    assert ledger.finished


def test_counting_by_reason() -> None:
    ledger = filled(
        [
            Verdict(0, Scored(Fraction(1))),
            Verdict(1, Scored(Fraction(0), mentioned=False)),
            Verdict(2, Unscored(Reason.REFUSED)),
        ]
    )
    assert ledger.count(0, SIZE) == (2, {"refused": 1})
    assert ledger.count(1, 1) == (1, {})
    assert ledger.outcome(1) == Scored(Fraction(0), mentioned=False)


def test_labels_are_kept_beside_the_score() -> None:
    found = [Verdict(index, Scored(Fraction(1), labels=index + 1)) for index in range(2)]
    ledger = filled([*found, Verdict(2, Scored(Fraction(1), labels=999))])
    assert [ledger.outcome(index) for index in range(2)] == [each.outcome for each in found]
    assert ledger.outcome(2) == Scored(Fraction(1), labels=155)
    assert ledger.count(0, SIZE) == (3, {})
    assert ledger.merge([Verdict(0, Unscored(Reason.BACKEND))]) == []
    assert ledger.retryable() == set()


ITEM = Item("captionqa", "a", "a", "a", (), (Question(0, None, 2), Question(5, None)), first=1)


async def test_the_outcomes_and_verdicts_of_an_item() -> None:
    first, last = Verdict(1, Scored(Fraction(1))), Verdict(3, Unscored(Reason.REFUSED))
    ledger = filled([last, first])
    assert ledger.outcomes(ITEM) == {(0, 0): first.outcome, (5, 0): last.outcome}
    assert await ledger.evidence([ITEM]) == {1: first, 3: last}


PASSING = {Reason.BACKEND, Reason.TIMEOUT, Reason.INTERNAL, Reason.BUDGET, Reason.MEDIA_MISSING}


@pytest.mark.parametrize("reason", Reason)
def test_what_is_worth_asking_again(reason: Reason) -> None:
    ledger = filled([Verdict(index, Scored(Fraction(1))) for index in range(3)])
    assert ledger.needs_outcome(ITEM)
    ledger.merge([Verdict(3, Unscored(reason))])
    assert ledger.needs_outcome(ITEM) == (reason in PASSING)
    ledger.merge([Verdict(3, Scored(Fraction(0)))])
    assert not ledger.needs_outcome(ITEM)


def test_merging_returns_what_changed() -> None:
    ledger = filled([Verdict(0, Scored(Fraction(1))), Verdict(1, Unscored(Reason.TIMEOUT))])
    right, wrong = Scored(Fraction(1)), Scored(Fraction(0))
    found = ledger.merge([Verdict(0, right), Verdict(1, wrong), Verdict(2, wrong)])
    assert found == [
        OutcomeChange(1, Unscored(Reason.TIMEOUT), wrong),
        OutcomeChange(2, None, wrong),
    ]
