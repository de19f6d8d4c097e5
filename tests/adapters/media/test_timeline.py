"""The arithmetic of frame indices, against its definition."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.media.timeline import Timeline, frame_indices, timeline
from caliper.core.preparation import Preparation

MILLI = Fraction(1, 1000)
RATES = (Fraction(25), Fraction(30), Fraction(24000, 1001), Fraction(30000, 1001), Fraction(60))


def on_display(found: Timeline, instants: Sequence[Fraction]) -> list[int]:
    """The definition, read aloud: the last frame that has begun; each once."""
    begun = [
        max(i for i, start in enumerate(found.starts) if start * found.unit <= instant)
        for instant in instants
    ]
    return sorted(set(begun))


def defined(found: Timeline, frames: int, fps: Fraction | None) -> list[int]:
    length = found.seconds
    instants = [(2 * k + 1) * length / (2 * frames) for k in range(frames)]
    if fps is not None:
        by_rate = [
            (2 * k + 1) / (2 * fps) for k in range(max(0, ceil(length * fps - Fraction(1, 2))))
        ]
        if not by_rate:
            instants = [length / 2]
        elif len(by_rate) <= frames:
            instants = by_rate
    if len(found.starts) <= len(instants):
        return list(range(len(found.starts)))
    return on_display(found, instants)


timelines = st.builds(
    lambda gaps, unit: Timeline(
        tuple(sum(gaps[:place]) for place in range(len(gaps))), sum(gaps), unit
    ),
    st.lists(st.integers(1, 500), min_size=1, max_size=40),
    st.sampled_from([MILLI, Fraction(1, 25), Fraction(1001, 30000)]),
)
rates = st.fractions(Fraction(1, 60), 120, max_denominator=1001)


@given(timelines, st.integers(1, 60), st.none() | rates)
def test_the_chosen_frames_are_those_of_the_definition(
    found: Timeline, frames: int, fps: Fraction | None
) -> None:
    indices = frame_indices(found, Preparation(frames=frames, fps=fps))
    assert list(indices) == defined(found, frames, fps)
    assert 1 <= len(indices) <= frames
    assert list(indices) == sorted(set(indices))
    assert 0 <= indices[0] <= indices[-1] < len(found.starts)


@given(st.integers(1, 3000), st.integers(1, 64))
def test_at_a_constant_rate_the_middles_of_equal_parts(total: int, frames: int) -> None:
    found = Timeline(range(total), total, Fraction(1, 25))
    expected = {(2 * k + 1) * total // (2 * frames) for k in range(frames)}
    assert list(frame_indices(found, Preparation(frames=frames))) == sorted(expected)


@given(st.integers(1, 200), st.sampled_from(RATES), st.integers(1, 8))
def test_fps_over_whole_seconds_is_uniform(seconds: int, rate: Fraction, fps: int) -> None:
    total = round(seconds * rate)
    found = Timeline(range(total), total, Fraction(seconds, total))
    every = Preparation(frames=4096, fps=Fraction(fps))
    assert frame_indices(found, every) == frame_indices(found, Preparation(frames=seconds * fps))


def test_the_cap_and_clips_shorter_than_half_a_step() -> None:
    found = Timeline(range(250), 250, Fraction(1, 25))
    capped = Preparation(frames=3, fps=Fraction(2))
    assert (
        frame_indices(found, capped)
        == frame_indices(found, Preparation(frames=3))
        == (41, 125, 208)
    )
    assert frame_indices(found, Preparation(frames=3, fps=Fraction(1, 25))) == (125,)
    assert frame_indices(Timeline((), 0, MILLI), Preparation()) == ()


@given(st.integers(2, 400), st.sampled_from(RATES), st.integers(0, 10**6))
def test_rounded_stamps_stand_for_their_rate(total: int, rate: Fraction, origin: int) -> None:
    stamps = [origin + round(number / rate / MILLI) for number in range(total)]
    for told in (rate, None):
        found = timeline(stamps, MILLI, told, round(1000 / rate))
        assert found.starts == range(total)
        # Without being told, the rate is known as well as the last stamp.
        assert abs(found.seconds - total / rate) <= (0 if told else 3 * MILLI)


@given(st.lists(st.integers(1, 500), min_size=2, max_size=40), st.integers(-1000, 1000))
def test_stamps_of_a_variable_rate_are_kept(gaps: list[int], origin: int) -> None:
    starts = [sum(gaps[:place]) for place in range(len(gaps))]
    found = timeline([origin + start for start in starts], MILLI, None, gaps[-1])
    times = [start * found.unit for start in found.starts]
    # At most what rounding to ticks makes of a constant rate.
    assert all(abs(a - b * MILLI) <= 2 * MILLI for a, b in zip(times, starts, strict=True))


@given(st.permutations(range(12)))
def test_stamps_in_decoding_order_are_sorted(order: list[int]) -> None:
    found = timeline([place * 40 for place in order], MILLI, Fraction(25), 40)
    assert found == Timeline(range(12), 12, Fraction(1, 25))


stamps_of_any_kind = st.lists(st.none() | st.integers(-500, 500), min_size=1, max_size=40)


@given(stamps_of_any_kind, st.none() | st.sampled_from(RATES), st.integers(0, 300))
def test_any_stamps_give_a_timeline(
    stamps: list[int | None], rate: Fraction | None, last: int
) -> None:
    found = timeline(stamps, MILLI, rate, last)
    assert len(found.starts) == len(stamps)
    assert found.starts[0] == 0
    assert list(found.starts) == sorted(found.starts)
    assert found.length > found.starts[-1]
    assert len(frame_indices(found, Preparation(frames=5))) >= 1


@pytest.mark.parametrize(
    ("stamps", "starts"),
    [
        ([0, None, None, 120, 160], [0, 40, 80, 120, 160]),
        ([0, 0, 80, 80, 160, 160], [0, 40, 80, 120, 160, 200]),
        ([None, None, 80, 120], [0, 40, 80, 120]),
        ([0, 40, None, None], [0, 40, 80, 120]),
        ([None] * 4, [0, 40, 80, 120]),
        ([7] * 4, [0, 40, 80, 120]),
    ],
)
def test_missing_and_equal_stamps_are_spread(stamps: list[int | None], starts: list[int]) -> None:
    found = timeline(stamps, MILLI, Fraction(25))
    assert [start * found.unit / MILLI for start in found.starts] == starts
    assert found.seconds == (starts[-1] + 40) * MILLI


def test_a_last_frame_that_stays_counts() -> None:
    found = timeline([0, 40, 80], MILLI, Fraction(25), 9920)
    assert found.seconds == 10
    assert frame_indices(found, Preparation(frames=2)) == (2,)
