from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from tests.fakes.examinations import driven, in_turn

from caliper.benchmarks.exchanges import LONGEST, UNREADABLE, Reading, ask_and_read, examine_each
from caliper.benchmarks.registry import BUILT_IN, benchmark
from caliper.core.errors import UnknownName
from caliper.core.outcome import Evidence, Outcome, Reason, Scored, Unscored, Verdict
from caliper.core.question import Answer, Ask, Failure, Item, Question, Reply

ONE = Scored(Fraction(1))
Result = list[tuple[Outcome, Evidence]]


def ask(number: int) -> Ask:
    question = Question(number, None)
    item = Item("captionqa", "a", "a", "a", (), (question,))
    return Ask(item, question, 0, "captionqa/reader", {})


def read(asked: Ask, text: str) -> Reading:
    if text == "yes":
        return Reading(ONE, "it says so", repaired=True)
    return Reading(UNREADABLE, "no yes in it")


def asked(*rounds: Sequence[Answer]) -> tuple[Result, list[list[tuple[int, int]]]]:
    """The results, and (ordinal, attempt) of what was asked in each round."""
    asks = [ask(number) for number in range(len(rounds[0]))]
    batches, results = driven(ask_and_read(asks, read), in_turn(*rounds))
    return results, [[(one.question.ordinal, one.attempt) for one in batch] for batch in batches]


def test_readable_replies_are_asked_for_once() -> None:
    results, batches = asked([Reply("yes"), Reply("yes")])
    evidence = Evidence("yes", "it says so", repaired=True)
    assert results == [(ONE, evidence)] * 2
    assert batches == [[(0, 0), (1, 0)]]


@pytest.mark.parametrize("mark", ["<{}think>", "[{}THINK]"])
def test_a_long_reply_is_read_behind_its_thoughts(mark: str) -> None:
    thoughts = f"{mark.format('')}{'no ' * LONGEST}{mark.format('/')}"
    results, batches = asked([Reply(f"{thoughts}yes")])
    assert results[0][0] == ONE
    assert results[0][1].reply == f"{thoughts}yes"
    assert batches == [[(0, 0)]]


@pytest.mark.parametrize("reply", ["yes" * LONGEST, f"</think>{'yes' * LONGEST}"])
def test_a_reply_beyond_all_bounds_is_not_read(reply: str) -> None:
    examination = ask_and_read([ask(0)], lambda asked, text: Reading(ONE, text))
    next(examination)
    examination.send([Reply(reply)])
    with pytest.raises(StopIteration) as stop:
        examination.send([Reply(reply, truncated=True)])
    ((outcome, evidence),) = stop.value.value
    assert outcome == Unscored(Reason.TRUNCATED)
    assert evidence.explanation == "it has more than 65,536 characters"


def test_only_the_unreadable_ones_are_asked_once_more() -> None:
    results, batches = asked(
        [Reply("yes"), Reply("hm"), Failure(Reason.BACKEND), Reply("so")],
        [Reply("yes"), Reply("what")],
    )
    assert [outcome for outcome, _ in results] == [
        ONE, ONE, Unscored(Reason.BACKEND), Unscored(Reason.UNREADABLE)
    ]  # fmt: skip
    assert batches[1] == [(1, 1), (3, 1)]
    assert results[3][1].reply == "what"


def test_when_the_second_ask_fails_the_first_reply_stays_the_evidence() -> None:
    results, _ = asked([Reply("hm")], [Failure(Reason.TIMEOUT)])
    assert results == [(Unscored(Reason.TIMEOUT), Evidence("hm", "no yes in it"))]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_reply_is_none(text: str) -> None:
    results, batches = asked([Reply(text)])
    assert results[0][0] == Unscored(Reason.NO_REPLY)
    assert len(batches) == 1


def test_what_was_cut_off_is_truncated_not_unreadable() -> None:
    results, batches = asked([Reply("hm", truncated=True), Reply("yes", truncated=True)])
    assert [outcome for outcome, _ in results] == [Unscored(Reason.TRUNCATED), ONE]
    assert len(batches) == 1


def test_a_reader_of_its_own_reads_what_was_cut_off() -> None:
    replies = [[Reply("yes", truncated=True), Reply("hm")], [Reply("yes", truncated=True)]]
    examination = ask_and_read(
        [ask(0), ask(1)], read, lambda asked, text: Reading(UNREADABLE, f"cut: {text}")
    )
    _, results = driven(examination, in_turn(*replies))
    assert results == [(Unscored(Reason.TRUNCATED), Evidence("yes", "cut: yes"))] * 2


@pytest.mark.parametrize("reason", Reason)
def test_a_failure_keeps_its_reason(reason: Reason) -> None:
    rounds: list[list[Answer]] = [[Failure(reason, "why")]]
    if reason is Reason.UNREADABLE:
        rounds.append([Failure(reason, "again")])
    results, _ = asked(*rounds)
    assert results == [(Unscored(reason), Evidence(explanation="why"))]


def test_nothing_to_ask() -> None:
    with pytest.raises(StopIteration) as stop:
        next(ask_and_read([], read))
    assert stop.value.value == []


def test_verdicts_come_in_index_order_whether_asked_for_or_not() -> None:
    broken = Question(1, None, unscored=Reason.BAD_INPUT, note="no text")
    item = Item("x", "a", "a", "a", (), (Question(0, None), broken, Question(2, None)), first=7)

    def settle(question: Question[Any], repeat: int) -> Ask | tuple[Outcome, Evidence]:
        if question.ordinal == 0:
            return ONE, Evidence("known")
        return Ask(item, question, repeat, "x/reader", {})

    examination = examine_each(item, settle, read)
    assert [one.question.ordinal for one in next(examination)] == [2]
    with pytest.raises(StopIteration) as stop:
        examination.send([Reply("yes")])
    assert stop.value.value == (
        Verdict(7, ONE, Evidence("known")),
        Verdict(8, Unscored(Reason.BAD_INPUT), Evidence(explanation="no text")),
        Verdict(9, ONE, Evidence("yes", "it says so", repaired=True)),
    )


@pytest.mark.parametrize("name", BUILT_IN)
def test_benchmarks_go_by_their_names(name: str) -> None:
    found = benchmark(name)
    assert found.name == name
    assert found.role in ("judge", "reader")
    assert benchmark(name) is found


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_setting_has_a_default_that_it_allows(name: str) -> None:
    for setting in benchmark(name).settings:
        if setting.choices:
            assert setting.default in setting.choices
            assert setting.range is None
        else:
            assert setting.range is not None
            assert setting.range[0] <= float(setting.default) <= setting.range[1]


@pytest.mark.parametrize("name", ["coco", "", "Capability"])
def test_an_unknown_benchmark(name: str) -> None:
    with pytest.raises(UnknownName, match="known: capability, captionqa, comprecap"):
        benchmark(name)
