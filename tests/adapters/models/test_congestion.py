"""The gate of an endpoint: how many calls it lets through, whatever the endpoint does."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.models.congestion import CongestionLimits, CongestionWindow

PACE = CongestionLimits(max_calls=64, initial_calls=8, patience=60.0)
LONGEST = PACE.longest_wait * 1.1


def steady() -> float:
    """Draw no jitter."""
    return 0.0


@dataclass
class Endpoint:
    """Drives a gate: the calls in flight, by whether each is a probe, and the time."""

    gate: CongestionWindow
    now: float = 0.0
    calls: list[bool] = field(default_factory=list)

    @classmethod
    def fresh(cls, pace: CongestionLimits = PACE) -> "Endpoint":
        return cls(CongestionWindow(pace, steady))

    def fill(self) -> int:
        """Begin as many calls as are admitted; says how many."""
        begun = 0
        while self.gate.admits(self.now):
            self.calls.append(self.gate.enter())
            begun += 1
            assert begun <= self.gate.limit or self.gate.limit == 0 == begun - 1
        return begun

    def end(self, what: str, retry_after: float | None = None) -> None:
        probe = self.calls.pop(0)
        match what:
            case "overloaded":
                self.gate.record_overload(self.now, retry_after, probe=probe)
            case "left":
                self.gate.abandon(probe=probe)
            case "succeeded":
                self.gate.record_success(self.now, probe=probe)
            case "answered":
                self.gate.record_rejection(self.now, probe=probe)
            case _:
                self.gate.record_failure(self.now, probe=probe)

    def round(self, what: str) -> int:
        """Fill the gate and end all calls alike, a second later; says how many there were."""
        begun = self.fill()
        self.now += 1.0
        while self.calls:
            self.end(what)
        return begun


def test_good_answers_double_the_limit_up_to_the_configured_most() -> None:
    endpoint = Endpoint.fresh()
    assert [endpoint.round("succeeded") for _ in range(5)] == [8, 16, 32, 64, 64]


def test_the_start_is_never_more_than_the_most() -> None:
    assert Endpoint.fresh(CongestionLimits(max_calls=3)).fill() == 3


def test_a_storm_of_refusals_cuts_once_a_debounce() -> None:
    endpoint = Endpoint.fresh(CongestionLimits(max_calls=64, initial_calls=64))
    assert endpoint.fill() == 64
    for _ in range(64):
        endpoint.end("overloaded")
        endpoint.now += 0.4 / 64
    assert endpoint.gate.limit == 32
    # Nobody goes there while the debounce lasts, or their tries would be used up for nothing.
    assert endpoint.fill() == 0
    endpoint.now += 0.2
    assert endpoint.fill() == 32
    endpoint.end("overloaded")
    assert endpoint.gate.limit == 16


def test_after_a_cut_the_limit_doubles_to_the_half_and_then_grows_by_one() -> None:
    endpoint = Endpoint.fresh(CongestionLimits(max_calls=64, initial_calls=64))
    endpoint.calls.append(endpoint.gate.enter())
    endpoint.end("overloaded")
    # Only one call was in flight: that is what was too much.
    assert endpoint.gate.limit == 1
    endpoint.now += 10
    limits = []
    for _ in range(9):
        endpoint.round("succeeded")
        limits.append(endpoint.gate.limit)
    assert limits == [2, 4, 8, 16, 32, 33, 34, 35, 36]


def test_waits_that_nobody_named_double_until_a_good_answer() -> None:
    endpoint = Endpoint.fresh()
    waits = []
    for _ in range(9):
        endpoint.fill()
        while endpoint.calls:
            endpoint.end("overloaded")
        waits.append(endpoint.gate.opens_at - endpoint.now)
        endpoint.now = endpoint.gate.opens_at
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    endpoint.round("succeeded")
    endpoint.fill()
    endpoint.end("overloaded")
    assert endpoint.gate.opens_at - endpoint.now == 0.5


@pytest.mark.parametrize(("asked", "kept"), [(7.0, 7.0), (0.0, 0.5), (1e9, PACE.longest_wait)])
def test_a_named_wait_is_kept_within_reason(asked: float, kept: float) -> None:
    endpoint = Endpoint.fresh()
    endpoint.fill()
    endpoint.end("overloaded", asked)
    assert endpoint.gate.opens_at == kept
    endpoint.now = kept - 0.001
    assert not endpoint.gate.admits(endpoint.now)
    assert not endpoint.gate.healthy(endpoint.now)


def test_a_named_wait_counts_within_the_debounce_too() -> None:
    endpoint = Endpoint.fresh()
    endpoint.fill()
    endpoint.end("overloaded")
    endpoint.end("overloaded", 7.0)
    assert (endpoint.gate.limit, endpoint.gate.opens_at) == (4, 7.0)


def test_a_failure_stops_growth_for_a_while() -> None:
    endpoint = Endpoint.fresh()
    endpoint.fill()
    endpoint.end("failed")
    for _ in range(5):
        endpoint.end("succeeded")
    assert endpoint.gate.limit == 8
    endpoint.now += 1.0
    endpoint.end("succeeded")
    assert endpoint.gate.limit == 9


def test_repeated_failures_bring_it_to_zero_and_one_call_at_a_time_looks() -> None:
    endpoint = Endpoint.fresh()
    endpoint.round("failed")
    assert endpoint.gate.limit == 0
    waits = []
    for _ in range(7):
        waits.append(endpoint.gate.opens_at - endpoint.now)
        assert endpoint.fill() == 0
        endpoint.now = endpoint.gate.opens_at
        assert endpoint.fill() == 1
        endpoint.end("failed")
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    endpoint.now = endpoint.gate.opens_at
    assert [endpoint.round("succeeded") for _ in range(5)] == [1, 1, 2, 4, 5]


@pytest.mark.parametrize("answer", ["succeeded", "answered"])
def test_any_answer_to_the_probe_opens_it(answer: str) -> None:
    endpoint = Endpoint.fresh()
    endpoint.round("failed")
    endpoint.now = endpoint.gate.opens_at
    assert endpoint.round(answer) == 1
    assert endpoint.gate.limit == 1


def test_a_probe_that_meets_overload_opens_it_after_the_wait() -> None:
    endpoint = Endpoint.fresh()
    endpoint.round("failed")
    endpoint.now = endpoint.gate.opens_at
    endpoint.fill()
    endpoint.end("overloaded", 7.0)
    assert (endpoint.gate.limit, endpoint.gate.opens_at) == (1, endpoint.now + 7.0)


def test_a_probe_that_was_cancelled_leaves_its_place_to_another() -> None:
    endpoint = Endpoint.fresh()
    endpoint.round("failed")
    endpoint.now = endpoint.gate.opens_at
    assert endpoint.fill() == 1
    endpoint.end("left")
    assert endpoint.fill() == 1


def test_a_few_failures_of_many_calls_do_not_shut_it() -> None:
    endpoint = Endpoint.fresh(CongestionLimits(max_calls=64, initial_calls=64))
    for what in (*["failed"] * 31, "succeeded", *["failed"] * 31):
        endpoint.fill()
        endpoint.end(what)
    assert endpoint.gate.limit == 64
    endpoint.fill()
    endpoint.end("failed")
    assert endpoint.gate.limit == 0


def test_what_is_refused_for_good_changes_nothing() -> None:
    endpoint = Endpoint.fresh()
    assert [endpoint.round("answered") for _ in range(9)] == [8] * 9


def test_it_is_lost_only_after_repeated_trouble_and_long_patience() -> None:
    endpoint = Endpoint.fresh()
    endpoint.fill()
    endpoint.end("failed")
    endpoint.now += 1000
    assert not endpoint.gate.is_lost(endpoint.now)
    while endpoint.calls:
        endpoint.end("failed")
    # It was not asked since whether it is back.
    assert not endpoint.gate.is_lost(endpoint.now)
    endpoint.now = endpoint.gate.opens_at
    endpoint.round("failed")
    assert endpoint.gate.is_lost(endpoint.now)
    endpoint.now = endpoint.gate.opens_at
    endpoint.round("succeeded")
    assert not endpoint.gate.is_lost(endpoint.now)


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["enter", "succeeded", "answered", "overloaded", "failed", "left", "wait"]),
        st.sampled_from([0.0, 0.01, 0.3, 0.6, 5.0, 400.0]),
        st.sampled_from([None, 0.0, 3.0, 1e12]),
    ),
    max_size=200,
)


def play(endpoint: Endpoint, events: list[tuple[str, float, float | None]]) -> None:
    """Let things happen; what holds at all times is checked at every step."""
    gate, last_cut = endpoint.gate, -1.0
    for what, seconds, asked in events:
        before = gate.limit
        if what == "wait":
            endpoint.now += seconds
        elif what == "enter" and gate.admits(endpoint.now):
            assert gate.in_flight < max(1, before) or before == 0
            endpoint.calls.append(gate.enter())
            assert endpoint.calls[-1] == (before == 0)
        elif what != "enter" and endpoint.calls:
            endpoint.end(what, asked)
            if 0 < gate.limit < before:
                assert what == "overloaded"
                assert endpoint.now >= last_cut + PACE.debounce
                last_cut = endpoint.now
            if gate.limit > before:
                assert what in ("succeeded", "answered") or before == 0
        assert 0 <= gate.limit <= PACE.max_calls
        assert gate.in_flight == len(endpoint.calls)
        assert gate.opens_at <= endpoint.now + LONGEST


@given(EVENTS)
def test_whatever_happens_the_limit_holds_and_the_gate_opens_again(
    events: list[tuple[str, float, float | None]],
) -> None:
    endpoint = Endpoint.fresh()
    play(endpoint, events)
    # Those still in flight go away, and from now on the endpoint is well.
    while endpoint.calls:
        endpoint.end("left")
    endpoint.now += LONGEST
    assert endpoint.gate.admits(endpoint.now)
    for _ in range(PACE.max_calls):
        assert endpoint.round("succeeded") >= 1
    assert endpoint.gate.limit == PACE.max_calls


@given(EVENTS, st.floats(0, 1000))
def test_no_call_is_made_in_a_wait_that_was_asked_for(
    events: list[tuple[str, float, float | None]], asked: float
) -> None:
    endpoint = Endpoint.fresh()
    play(endpoint, events)
    endpoint.now = max(endpoint.now, endpoint.gate.opens_at)
    if endpoint.gate.limit == 0 or not endpoint.gate.admits(endpoint.now):
        return
    endpoint.fill()
    begun = endpoint.now
    endpoint.end("overloaded", asked)
    for step in range(1, 10):
        endpoint.now = begun + min(asked, PACE.longest_wait) * step / 10
        assert asked == 0 or not endpoint.gate.admits(endpoint.now)
