import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caliper.adapters.wire.text import from_wire, to_wire
from caliper.core.errors import InvalidInput

LETTERS = st.characters() | st.sampled_from("\ud83d\ude00\udfff\ufdd0d8f0")


@given(text=st.text(LETTERS))
@example(text="\ud83d\ude00")
@example(text="\ud800\udbff\udc00\udfff")
@example(text="\ufdd0d83d")
@example(text="\ufdd0\ufdd0fdd0")
def test_every_text_is_read_back_and_is_utf8_on_the_way(text: str) -> None:
    carried = to_wire(text)
    carried.encode()
    assert from_wire(carried) == text


@pytest.mark.parametrize("text", ["", "a stop sign", "ein Schild \U0001f6d1", "\x00\x1b\n\u2028"])
def test_ordinary_texts_travel_as_they_are(text: str) -> None:
    assert to_wire(text) == text


@pytest.mark.parametrize("text", ["\ufdd0", "\ufdd0dzzz", "\ufdd0D83D", "\ufdd00041", "a\ufdd0d8"])
def test_an_escape_that_is_never_written_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="escape"):
        from_wire(text)
