"""What is told of a wrong value in a file of ours."""

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field, ValidationError

from caliper.wiring.strict import Strict, first_problem


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(Strict):
    word: str = ""


class Outer(Strict):
    needed: str
    whole: int | None = Field(default=None, ge=1)
    share: float = Field(default=0.5, gt=0, lt=1)
    at_most: float = Field(default=1.0, le=1)
    on: bool = False
    either: int | bool = 0
    place: Path = Path()
    words: tuple[str, ...] = ()
    some: tuple[str, ...] = Field(default=("x",), min_length=1)
    inner: Inner = Inner()
    named: dict[str, Inner] = Field(default_factory=dict)
    colour: Colour = Colour.RED
    mode: Literal["a", "b"] = "a"
    figure: str = Field(default="x", min_length=1)
    like: str = Field(default="x", pattern="^x$")


def problem(**values: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"needed": "x", **values})
    return str(first_problem(caught.value, Outer.model_fields, "f.yaml"))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"whole": True}, "whole: expected a whole number, found true"),
        ({"share": False}, "share: expected a number, found false"),
        ({"whole": "x"}, "whole: expected a whole number, found 'x'"),
        ({"whole": 1.5}, "whole: expected a whole number, found 1.5"),
        ({"whole": [1]}, "whole: expected a whole number, found a list"),
        ({"whole": 0}, "whole: expected at least 1, found 0"),
        ({"share": "x"}, "share: expected a number, found 'x'"),
        ({"share": None}, "share: expected a number, found nothing"),
        ({"share": float("nan")}, "share: expected a finite number, found nan"),
        ({"share": 0}, "share: expected more than 0, found 0"),
        ({"share": 1}, "share: expected less than 1, found 1"),
        ({"at_most": 1.5}, "at_most: expected at most 1, found 1.5"),
        ({"on": "maybe"}, "on: expected true or false, found 'maybe'"),
        ({"place": 5}, "place: expected a path, found a number"),
        ({"place": None}, "place: expected a path, found nothing"),
        ({"words": "x"}, "words: expected a list, found text"),
        ({"words": [5]}, "words.0: expected text, found a number"),
        ({"some": []}, "some: expected at least one, found none"),
        ({"inner": "x"}, "inner: expected a mapping, found text"),
        ({"named": ["x"]}, "named: expected a mapping, found a list"),
        ({"named": {5: {}}}, "named.5: expected text, found a number"),
        ({"needed": True}, "needed: expected text, found true"),
        ({"needed": {"x": 1}}, "needed: expected text, found a mapping"),
        ({"colour": "green"}, "colour: expected 'red' or 'blue', found 'green'"),
        ({"mode": "c"}, "mode: expected 'a' or 'b', found 'c'"),
        ({"figure": ""}, "figure: expected text, found ''"),
        ({"like": "y"}, "like: expected text like ^x$, found 'y'"),
        ({"wohle": 1}, "wohle: unknown key; known: at_most, colour, "),
    ],
)
def test_expected_and_found(values: dict[str, Any], told: str) -> None:
    assert problem(**values).startswith(f"f.yaml: {told}")


def test_what_is_missing() -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({})
    assert str(first_problem(caught.value, (), "f.yaml")) == "f.yaml: needed: missing"


def test_a_boolean_stays_where_one_may_be() -> None:
    assert Outer.model_validate({"needed": "x", "on": True, "either": True}).either is True
