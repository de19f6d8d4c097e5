"""The order in which questions are judged."""

from collections import Counter

from caliper.analysis.draw_order import Unit, draw_order

UNITS = [
    Unit(index, f"task-{index % 3}", f"medium-{(index * index) % 211}") for index in range(3000)
]


def test_every_question_is_drawn_once_and_strata_keep_their_shares() -> None:
    blocks = draw_order(UNITS, b"seed")
    assert sorted(index for block in blocks for index in block) == list(range(3000))
    assert len(blocks) == 40
    assert Counter(index % 3 for index in blocks[0]) == {0: 30, 1: 30, 2: 30}
    half = Counter(index % 3 for block in blocks[:20] for index in block)
    assert half == {0: 500, 1: 500, 2: 500}


def test_the_order_depends_on_the_seed_and_not_on_the_order_of_units() -> None:
    assert draw_order(UNITS, b"seed") == draw_order(UNITS[::-1], b"seed")
    assert draw_order(UNITS, b"seed") != draw_order(UNITS, b"another")


def test_a_medium_is_asked_about_again_only_after_the_others() -> None:
    units = [Unit(index, "task", str(index // 10)) for index in range(1000)]
    first = [index for block in draw_order(units, b"seed") for index in block][:100]
    assert Counter(index // 10 for index in first) == dict.fromkeys(range(100), 1)


def test_places_are_uniform_where_media_differ_in_size() -> None:
    """Of media with one question and media with nine, each question is as likely to be early."""
    small = [Unit(index, "task", f"small-{index}") for index in range(500)]
    large = [Unit(index, "task", f"large-{index % 60}") for index in range(500, 1040)]
    early = 0
    for seed in range(100):
        blocks = draw_order([*small, *large], str(seed).encode())
        early += sum(index < 500 for block in blocks[:8] for index in block)
    # A fifth of 1,040 are drawn; the binomial standard error of 10,000 is 89 at the most.
    assert abs(early - 10_000) < 270


def test_small_draws_have_no_empty_blocks() -> None:
    blocks = draw_order([Unit(index, "task", str(index)) for index in range(32)], b"seed")
    assert [len(block) for block in blocks] == [30, 1, 1]
    assert draw_order([], b"seed") == []
