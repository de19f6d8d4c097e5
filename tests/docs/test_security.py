"""Every row of docs/security.md names a test that there is."""

from __future__ import annotations

import ast
import re

from tests.fakes.sources import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")


def test_every_row_has_its_test() -> None:
    rows = re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)[2:]
    assert len(rows) > 10
    for row in rows:
        file, name = re.fullmatch(r".*\| `(tests/\S+\.py)::(test_\w+)` \|", row).groups()
        tree = ast.parse((ROOT / file).read_text("utf-8"))
        functions = {
            each.name
            for each in ast.walk(tree)
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert name in functions, row
