import re
from collections.abc import Iterator

import pytest

from caliper.core import errors
from caliper.core.errors import (
    ERROR_POLICIES,
    BackendOverloaded,
    CaliperError,
    InvalidInput,
    JobFate,
    NewerSchema,
    UnknownName,
    error_policy,
)
from caliper.core.outcome import Reason


def tree(of: type[CaliperError]) -> Iterator[type[CaliperError]]:
    yield of
    for below in of.__subclasses__():
        yield from tree(below)


CLASSES = sorted(set(tree(CaliperError)), key=lambda found: found.__name__)


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_has_a_row(kind: type[CaliperError]) -> None:
    assert kind in ERROR_POLICIES


def test_the_table_knows_no_other_classes() -> None:
    assert set(ERROR_POLICIES) == set(CLASSES)


def test_the_tree_in_the_docstring_names_every_class_once() -> None:
    drawn = (errors.__doc__ or "").split("The tree:")[1].split("`ERROR_POLICIES`")[0]
    names = re.findall(r"^[\s│├└─]*([A-Z]\w+)", drawn, re.MULTILINE)
    assert sorted(names) == [kind.__name__ for kind in CLASSES]


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = (errors.__doc__ or "").split("The tree:")[1].split("`ERROR_POLICIES`")[0]
    above: list[tuple[int, str]] = []
    for line in drawn.splitlines():
        found = re.match(r"^([\s│├└─]*)([A-Z]\w+)", line)
        if not found:
            continue
        depth, name = len(found[1]), found[2]
        above = [(at, parent) for at, parent in above if at < depth]
        if above:
            assert issubclass(getattr(errors, name), getattr(errors, above[-1][1]))
        above.append((depth, name))


@pytest.mark.parametrize("kind", CLASSES)
def test_what_gets_no_outcome_ends_or_pauses_the_run(kind: type[CaliperError]) -> None:
    row = ERROR_POLICIES[kind]
    assert (row.reason is None) == (row.fate in (JobFate.FAIL_RUN, JobFate.PAUSE))


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), OSError(5, "x"), MemoryError()])
def test_anything_else_is_internal(error: Exception) -> None:
    row = error_policy(error)
    assert (row.fate, row.reason) == (JobFate.RETRY_ONCE, Reason.INTERNAL)


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ({}, ""),
        ({"file": "a.json"}, "a.json"),
        ({"file": "a.json", "line": 3}, "a.json:3"),
        ({"file": "a.json", "line": 3, "field": "id"}, "a.json:3: id"),
        ({"file": "a.json", "field": "id"}, "a.json: id"),
        ({"line": 3}, "line 3"),
        ({"line": 3, "field": "id"}, "line 3: id"),
        ({"field": "id"}, "id"),
        ({"line": 0}, "line 0"),
    ],
)
def test_where(place: dict[str, object], where: str) -> None:
    error = InvalidInput("is wrong", **place)  # type: ignore[arg-type]  # a table of keywords
    assert error.where == where
    assert str(error) == (f"{where}: is wrong" if where else "is wrong")


def test_an_unknown_name_lists_the_known_ones() -> None:
    error = UnknownName("benchmark", "coco", ("capability", "captionqa"), file="run.yaml")
    assert str(error) == "run.yaml: unknown benchmark 'coco'; known: capability, captionqa"
    assert error.file == "run.yaml"


def test_newer_schemas_are_input_that_cannot_be_used() -> None:
    assert isinstance(NewerSchema("written by a later release", field="schema"), InvalidInput)


def test_how_long_to_wait_travels_with_the_error() -> None:
    assert BackendOverloaded("slow down", 2.5).retry_after == 2.5
    assert BackendOverloaded("slow down").retry_after is None
