"""Imports that wait: what type checkers and the rules about imports see is what is imported."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "caliper"


def importers() -> Iterator[Path]:
    for path in sorted(SOURCE.rglob("*.py")):
        if " = lazy_module(" in path.read_text("utf-8"):
            yield path


@pytest.mark.parametrize("path", list(importers()), ids=lambda path: str(path.relative_to(SOURCE)))
def test_deferred_modules_are_imported_by_the_same_names_for_type_checkers(path: Path) -> None:
    (block,) = (
        each
        for each in ast.parse(path.read_text("utf-8")).body
        if isinstance(each, ast.If) and ast.unparse(each.test) == "TYPE_CHECKING" and each.orelse
    )
    seen: dict[str, str] = {}
    for each in block.body:
        if isinstance(each, ast.ImportFrom):
            seen |= {one.asname or one.name: f"{each.module}.{one.name}" for one in each.names}
        elif isinstance(each, ast.Import):
            seen |= {one.asname or one.name: one.name for one in each.names}
    # Its other imports are of names for annotations only.
    waiting = {
        ast.unparse(each.targets[0]): ast.literal_eval(each.value.args[0])
        for each in block.orelse
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)
    }
    assert waiting
    assert waiting == {name: seen.get(name) for name in waiting}
