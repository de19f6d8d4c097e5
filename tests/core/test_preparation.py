from fractions import Fraction
from typing import Any

import pytest

from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.preparation import Preparation


@pytest.mark.parametrize(
    "preparation",
    [
        Preparation(),
        Preparation(32, Fraction(30000, 1001), 448, 75, 200_000),
        Preparation(fps=Fraction(2)),
        Preparation(clips="whole"),
    ],
)
def test_json_round_trip(preparation: Preparation) -> None:
    assert Preparation.of(preparation.to_json()) == preparation


def test_keys_of_runs_with_frames_are_those_of_before() -> None:
    assert "clips" not in Preparation(clips="frames").to_json()
    assert Preparation(clips="whole").to_json()["clips"] == "whole"


def test_equal_rates_are_one_preparation() -> None:
    written = [{"fps": fps, "frames": "768"} for fps in (2, "2", "2.0", " 4/2 ", 2.0)]
    assert len({Preparation.of(each) for each in written}) == 1
    assert Preparation.of({"fps": 29.97, "frames": 8}).fps == Fraction(2997, 100)


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ({"frames": 0}, "frames"),
        ({"frames": "4097"}, "frames"),
        ({"frames": "eight"}, "frames"),
        ({"frames": "1.5"}, "frames"),
        ({"frames": None}, "frames"),
        ({"fps": "1/0", "frames": 1}, "fps"),
        ({"fps": 0, "frames": 1}, "fps"),
        ({"fps": "nan", "frames": 1}, "fps"),
        ({"fps": "2"}, "frames"),
        ({"longest": 15}, "longest"),
        ({"quality": 101}, "quality"),
        ({"image_bytes": 9_999}, "image_bytes"),
        ({"clips": "some"}, "clips"),
        ({"clips": None}, "clips"),
    ],
)
def test_what_is_refused_is_named(written: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Preparation.of(written)
    assert caught.value.field == field


def test_an_unknown_name() -> None:
    with pytest.raises(UnknownName, match="frames, fps, longest, quality, image_bytes"):
        Preparation.of({"frame": 8})


def test_reports_tell_the_rule() -> None:
    whole = Preparation(clips="whole").describe()
    assert whole["frames"] == "8, evenly, by the server"
    assert Preparation().describe() == {
        "frames": "8, evenly",
        "images": "at most 1024 pixels a side, JPEG 90, 1400000 bytes",
    }
    assert Preparation(768, Fraction(2)).describe()["frames"] == "2 a second, at most 768"
