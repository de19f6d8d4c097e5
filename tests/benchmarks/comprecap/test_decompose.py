from __future__ import annotations

from caliper.benchmarks.comprecap.examination import join, pieces


def test_pieces_end_at_newlines_full_stops_and_what_captioners_leave() -> None:
    caption = "A dog runs. \n A frisbee\\nflies</s> . \n\n"
    assert pieces(caption) == ("A dog runs", "A frisbee", "flies")


def test_an_empty_caption_has_no_pieces() -> None:
    assert pieces(" \n. ") == ()


def test_joined_pieces_stand_once_and_in_order() -> None:
    assert join(("a", "b", "c"), [2, 0, 2]) == "a. c"
