import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.keys import check_key, check_prefix
from caliper.core.errors import InvalidInput


@pytest.mark.parametrize("key", ["a", "jobs/ab/abcdef", "A-1_b/c.d", "x" * 1024, "a/b.", "_/-"])
def test_a_key_is_itself(key: str) -> None:
    assert check_key(key) == key


@given(st.text(max_size=40) | st.from_regex(r"[a./\\]{1,12}", fullmatch=True))
def test_what_is_accepted_stays_below_its_folder(key: str) -> None:
    try:
        check_key(key)
    except InvalidInput:
        return
    segments = key.split("/")
    assert all(segments)
    assert not any(segment.startswith(".") for segment in segments)
    assert not set(key) & set("\\:\0\n ")


def test_a_long_key_is_not_repeated_whole() -> None:
    with pytest.raises(InvalidInput) as caught:
        check_key(" " * 100_000)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("prefix", ["", "a", "a/", "a/b", "a/../b"[:2]])
def test_a_prefix_may_end_anywhere(prefix: str) -> None:
    assert check_prefix(prefix) == prefix


@pytest.mark.parametrize("prefix", ["/", "../", "a//b", "a/../b", "./a"])
def test_a_prefix_escapes_nothing(prefix: str) -> None:
    with pytest.raises(InvalidInput):
        check_prefix(prefix)
