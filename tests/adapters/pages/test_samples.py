import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import reports

from caliper.adapters.pages.samples import Sample, choose
from caliper.core.report import VerdictRow


def urgency(sample: Sample) -> int:
    if sample.row.score is None or sample.row.outcome == "wrong":
        return 0
    return 2 if sample.row.outcome == "correct" else 1


def test_wrong_and_unscored_come_first_then_the_rest_then_correct() -> None:
    chosen = choose(reports.verdicts(80), {}).samples
    assert len(chosen) == 80
    order = [urgency(sample) for sample in chosen]
    assert order == sorted(order)


def test_every_outcome_has_its_turn() -> None:
    rows = [reports.verdict(4 * place + 1) for place in range(300)]
    rows += [reports.verdict(4 * place) for place in range(300)]
    chosen = choose(rows, {}, limit=100)
    assert Counter(sample.row.outcome for sample in chosen.samples) == {"wrong": 50, "correct": 50}
    assert sum(chosen.counts.values()) == 600
    assert chosen.counts["capability", "object_color", "wrong", ""] == 100


def test_dimensions_and_outcomes_take_turns() -> None:
    rows = [reports.verdict(4 * place + 1) for place in range(300)]
    rows += [reports.verdict(5000, dimension="rare", outcome="wrong", score=-1.0)]
    chosen = choose(rows, {}, limit=9).samples
    counts = Counter(sample.row.dimension for sample in chosen)
    assert counts["rare"] == 1
    assert max(counts.values()) - 1 <= min(counts[name] for name in counts if name != "rare")


def test_a_dimension_is_not_shown_by_its_first_verdicts() -> None:
    rows = [reports.verdict(4 * place, dimension="OCR") for place in range(300)]
    places = sorted(sample.row.index // 4 for sample in choose(rows, {}, limit=30).samples)
    assert places[0] < 100 < places[15] < 200 < places[-1]


def test_benchmarks_share_the_limit_and_the_small_one_gives_what_it_lacks() -> None:
    rows = [
        reports.verdict(index, benchmark=name)
        for name, count in (("capability", 300), ("captionqa", 300), ("comprecap", 10))
        for index in range(count)
    ]
    counts = Counter(sample.row.benchmark for sample in choose(rows, {}, limit=110).samples)
    assert counts == {"capability": 50, "captionqa": 50, "comprecap": 10}


def test_captions_go_by_benchmark_and_sample() -> None:
    row = reports.verdict(0)
    captions = {"capability": {"sample0": "ours"}, "captionqa": {"sample0": "another's"}}
    assert choose([row], captions).samples == (Sample(row, "ours"),)
    assert choose([row], {}).samples == (Sample(row, ""),)


@given(
    st.lists(
        st.builds(
            lambda index, benchmark, dimension: reports.verdict(
                index, benchmark=benchmark, dimension=dimension
            ),
            st.integers(0, 60),
            st.sampled_from(["capability", "captionqa"]),
            st.sampled_from(["OCR", "scene"]),
        ),
        unique_by=lambda row: row.index,
    ),
    st.integers(0, 30),
    st.randoms(use_true_random=False),
)
def test_the_order_of_verdicts_changes_nothing(
    rows: list[VerdictRow], limit: int, draw: random.Random
) -> None:
    chosen = choose(rows, {}, limit)
    assert choose(draw.sample(rows, len(rows)), {}, limit) == chosen
    assert len(chosen.samples) == min(limit, len(rows))
    assert len({sample.row.index for sample in chosen.samples}) == len(chosen.samples)
    assert sum(chosen.counts.values()) == len(rows)
