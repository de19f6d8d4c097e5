"""Workers take the longest files first."""

from __future__ import annotations

from tests.fakes.sources import ROOT
from tests.servers.order import LONGEST, place


def test_the_longest_files_come_first_and_others_as_they_are() -> None:
    others, services = ("a/test_b.py", "a/a/test_c.py"), ("services/test_d.py", "services/a.py")
    tests = [f"tests/{file}::test" for file in (*others, *services, *LONGEST[::-1])]
    wanted = [f"tests/{file}::test" for file in (*LONGEST, *services, *others)]
    assert sorted(tests, key=place) == wanted
    assert all((ROOT / "tests" / name).exists() for name in LONGEST)
