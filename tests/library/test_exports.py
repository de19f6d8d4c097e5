"""What `import caliper` exports, what that costs, and that the examples in its docs are true."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.docs.pages import blocks
from tests.fakes.sources import EXAMPLES

import caliper
from caliper.core.errors import CaliperError

VERBS = {"compare", "evaluate", "gate", "leaderboard", "load", "plan", "trend"}
RESULTS = {"GateDecision", "Leaderboard", "Run", "RunComparison", "RunEstimate", "RunTrend"}
OTHERS = {"CaliperError", "Client", "Model", "connect", "register_checkpoint"}


def test_what_is_exported() -> None:
    assert set(caliper.__all__) == VERBS | {f"a{verb}" for verb in VERBS} | RESULTS | OTHERS
    assert sorted(caliper.__all__) == caliper.__all__ == dir(caliper)
    for name in caliper.__all__:
        assert inspect.getdoc(getattr(caliper, name)), name
    assert caliper.CaliperError is CaliperError
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = caliper.nothing  # type: ignore[attr-defined]


def test_every_verb_has_an_async_form_with_the_same_parameters() -> None:
    for verb in VERBS:
        plain, form = (
            inspect.signature(getattr(caliper, name)).parameters for name in (verb, f"a{verb}")
        )
        assert plain == form
        assert inspect.iscoroutinefunction(getattr(caliper, f"a{verb}"))


def test_what_the_verbs_return_has_a_name() -> None:
    for plain, results in ((VERBS, RESULTS), ({"connect"}, {"Client"})):
        returned = {inspect.signature(getattr(caliper, verb)).return_annotation for verb in plain}
        assert returned == results


def test_importing_it_is_cheap() -> None:
    listing = (
        "import sys; before = set(sys.modules); import caliper; print(*(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    )
    ours = {name for name in done.stdout.split() if name.startswith("caliper")}
    assert ours == {"caliper"}
    assert len(done.stdout.split()) < 20


def test_the_examples_in_docstrings_and_docs(here: Path) -> None:
    run = caliper.evaluate(
        "examples/captions/careless/captionqa.json", DATA, name="careless", out="runs/other"
    )
    assert run.complete
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    space = {"caliper": caliper, "Model": caliper.Model}
    for name in DOCUMENTED:
        for test in doctest.DocTestFinder().find(import_module(name), globs=space):
            if test.examples and test.name.rpartition(".")[2] not in FORMS:
                # The first of them writes runs/example, which the others read.
                assert runner.run(test, clear_globs=False).failed == 0, test.name
    for number, block in enumerate(blocks("python.md", "python")):
        exec(compile(block, f"docs/python.md, block {number}", "exec"), space)  # noqa: S102


async def test_the_notebook_runs_where_a_loop_runs(here: Path) -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    space: dict[str, object] = {}
    shown = ""
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            shown = shown_by("".join(cell["source"]), f"cell {number}", space)
    assert str(space["toy"]).startswith("toy-3 (complete): CaptionQA ")
    # The last cell draws a point for each step.
    assert (shown.count("&lt;polyline"), shown.count("&lt;circle")) == (1, 4)


def shown_by(source: str, name: str, space: dict[str, object]) -> str:
    """Run a cell, and return what a notebook shows of its last value."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)  # noqa: S102
    value = eval(ast.unparse(last), space) if last else None  # noqa: S307
    return value._repr_html_() if hasattr(value, "_repr_html_") else ""


NOTEBOOK = EXAMPLES / "python" / "first_steps.ipynb"
FORMS = {f"a{verb}" for verb in VERBS}
DOCUMENTED = (
    "caliper",
    *(f"caliper.library.{name}" for name in ("model", "client", "run")),
)
DATA = {"captionqa": "examples/captionqa/questions.json"}
