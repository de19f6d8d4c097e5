"""Workers take the longest files first."""

from __future__ import annotations

from tests.fakes.sources import ROOT
from tests.servers.order import LONGEST, place


def test_the_longest_files_come_first_and_others_as_they_are() -> None:
    tests = [f"tests/{file}::test" for file in ("a/test_b.py", "tools/test_up.py", LONGEST[0])]
    ordered = sorted([*tests, "tests/a/a/test_c.py::test"], key=place)
    assert ordered == [tests[2], tests[1], tests[0], "tests/a/a/test_c.py::test"]
    assert all((ROOT / "tests" / name).exists() for name in LONGEST)
