import pytest

from caliper.benchmarks.registry import BUILT_IN, benchmark
from caliper.benchmarks.settings import resolve_settings
from caliper.core.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("name", BUILT_IN)
def test_settings_that_nobody_gives_have_their_defaults(name: str) -> None:
    found = resolve_settings(name, {})
    assert found == {setting.name: setting.default for setting in benchmark(name).settings}


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_runs_without_a_setting_mean_is_left_out(name: str) -> None:
    """A run from before `blank_caption` and one with `unscored` are the same run."""
    assert resolve_settings(name, {})["blank_caption"] == "answer"
    before = resolve_settings(name, {"blank_caption": "unscored"})
    assert before == {
        setting.name: setting.default
        for setting in benchmark(name).settings
        if setting.name != "blank_caption"
    }


def test_given_settings_stand() -> None:
    found = resolve_settings("captionqa", {"max_tokens": "64", "overall": "questions"})
    assert (found["max_tokens"], found["overall"], found["reading"]) == (
        "64", "questions", "lenient"
    )  # fmt: skip
    assert resolve_settings("comprecap", {"temperature": ".5"})["temperature"] == ".5"


def test_an_unknown_setting_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"setting of captionqa 'shufle'; known: .*shuffle"):
        resolve_settings("captionqa", {"shufle": "question"})


def test_an_unknown_value_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="value of reading 'exact'; known: lenient, released"):
        resolve_settings("captionqa", {"reading": "exact"})


@pytest.mark.parametrize("value", ["-0.1", "2.1", "nan", "inf", "-inf", "1e999"])
def test_a_number_out_of_its_range(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"^temperature: "):
        resolve_settings("comprecap", {"temperature": value})


@pytest.mark.parametrize("value", ["warm", "", "None", "0,5", "٣"])
def test_what_is_no_number(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"^max_tokens: expected a whole number, found "):
        resolve_settings("captionqa", {"max_tokens": value})


@pytest.mark.parametrize("value", ["4.5", "4e1", " 4", "4_0", "+4", "0", "1" * 400])
def test_a_number_that_has_to_be_whole(value: str) -> None:
    with pytest.raises(InvalidInput, match=r"^max_tokens: "):
        resolve_settings("captionqa", {"max_tokens": value})


def test_bounds_are_told_in_full() -> None:
    with pytest.raises(InvalidInput, match=r"^max_tokens: 0 is not from 1 to 1000000$"):
        resolve_settings("captionqa", {"max_tokens": "0"})
