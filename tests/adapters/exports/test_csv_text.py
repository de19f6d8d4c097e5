import csv
import io

import pytest

from caliper.adapters.exports.csv_text import csv_text


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_is_a_formula(first: str) -> None:
    name = f'{first}HYPERLINK("http://example.org","a")'
    ((cell, number),) = csv.reader(io.StringIO(csv_text([(name, -0.5)]), newline=""))
    assert cell == f"'{name}"
    assert float(number) == -0.5


def test_other_texts_stay_as_they_are() -> None:
    assert csv_text([("a=b", None, 'with "quotes"'), ("'=a", 0.25, "")]) == (
        'a=b,,"with ""quotes"""\n\'=a,0.25,\n'
    )
