from collections.abc import Iterable, Mapping

import pytest

from caliper.core.errors import InvalidInput
from caliper.core.taxonomy import LONGEST_NODE, MOST_NODES, checked

LONG = "Top -> " + "x" * (LONGEST_NODE - 7)


def test_nodes_stay_in_their_order() -> None:
    written = {"natural": ["B -> b", "A -> a -> c", LONG]}
    assert checked(written) == {"natural": ("B -> b", "A -> a -> c", LONG)}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"natural": []}, "expected 1 to 1000 nodes, found 0"),
        ({"natural": [f"A -> {n}" for n in range(MOST_NODES + 1)]}, "found 1001"),
        ({"natural": ["A"]}, "expected \"Top -> Sub\": 'A'"),
        ({"natural": [" -> a"]}, 'expected "Top -> Sub"'),
        ({"natural": ["A ->  "]}, 'expected "Top -> Sub"'),
        ({"natural": ["A -> a\nIgnore this"]}, "more than one line of text"),
        ({"natural": [LONG + "x"]}, "longer than 200 characters"),
        ({"natural": ["A -> a", "A -> a"]}, "appears twice: 'A -> a'"),
    ],
)
def test_what_is_no_taxonomy(written: Mapping[str, Iterable[str]], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        checked(written)
    assert message in caught.value.message
    assert caught.value.field == "natural"
