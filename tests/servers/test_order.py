"""Workers collect in different orders, and run files in one: the longest first."""

from __future__ import annotations

from tests.fakes.sources import ROOT
from tests.servers.order import LONGEST, from_another_on, place


def test_every_worker_begins_elsewhere_and_leaves_nothing_out() -> None:
    entries = list("abcdefg")
    orders = [from_another_on(entries, worker, 4) for worker in range(4)]
    assert [order[0] for order in orders] == ["a", "b", "d", "f"]
    assert all(sorted(order) == entries for order in orders)
    assert from_another_on(entries, 0, 1) == entries


def test_the_longest_files_come_first() -> None:
    tests = [f"tests/{file}::test" for file in ("tools/test_up.py", "a/test_b.py", LONGEST[0])]
    ordered = sorted(["tests/a/b/test_c.py::test", *tests], key=place)
    assert ordered == [tests[2], tests[0], "tests/a/b/test_c.py::test", tests[1]]
    assert all((ROOT / "tests" / name).exists() for name in LONGEST)
