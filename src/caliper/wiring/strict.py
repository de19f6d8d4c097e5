"""Configuration models that refuse unknown keys, with exact locations in errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator

from caliper.core.errors import InvalidInput


class Strict(BaseModel):
    """A frozen model in which unknown keys, and booleans as numbers, are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_boolean_as_number(cls, value: Any, info: ValidationInfo) -> Any:
        # Pydantic reads true as 1, and YAML reads yes as true.
        annotation = cls.model_fields[info.field_name or ""].annotation
        types = (annotation, *get_args(annotation))
        if isinstance(value, bool) and bool not in types and (int in types or float in types):
            expected = _OTHER_VALUE["int_type" if int in types else "float_type"]
            raise ValueError(f"expected {expected}, found {_shown(value)}")
        return value


def first_problem(
    error: ValidationError, known: Iterable[str], file: str, root: yaml.Node | None = None
) -> InvalidInput:
    """The first problem of a configuration, naming file, line and field.

    `known` are the keys to list if one is unknown, `root` is the document, if it has lines.
    """
    problem = error.errors()[0]
    message = problem_text(problem)
    if problem["type"] == "extra_forbidden":
        message = f"unknown key; known: {', '.join(sorted(known))}"
    place = [part for part in problem["loc"] if part != "[key]"]
    field = ".".join(str(part) for part in place)
    return InvalidInput(message, file=file, line=line_of(root, place), field=field)


def problem_text(problem: Mapping[str, Any]) -> str:
    """What was expected, and what was found. A value of another type is not repeated: it may be a
    secret in the wrong place.
    """
    kind, value = problem["type"], problem["input"]
    if kind in _OTHER_TYPE:
        return f"expected {_OTHER_TYPE[kind]}, found {_type_of(value)}"
    if kind in _OTHER_VALUE:
        expected = _OTHER_VALUE[kind].format(**problem.get("ctx", {}))
        return f"expected {expected}, found {_shown(value)}"
    return "missing" if kind == "missing" else problem["msg"].removeprefix("Value error, ")


_OTHER_TYPE = {
    **dict.fromkeys(("string_type", "invalid_key"), "text"),
    **dict.fromkeys(("dict_type", "model_type"), "a mapping"),
    **dict.fromkeys(("list_type", "tuple_type"), "a list"),
    "path_type": "a path",
    "too_short": "at least one",
}
_OTHER_VALUE = {
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("enum", "literal_error"), "{expected}"),
    "finite_number": "a finite number",
    "greater_than": "more than {gt:.15g}",
    "greater_than_equal": "at least {ge:.15g}",
    "less_than": "less than {lt:.15g}",
    "less_than_equal": "at most {le:.15g}",
    "string_pattern_mismatch": "text like {pattern}",
    "string_too_short": "text",
}


def _type_of(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping" if value else "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "a list" if value else "none"
    if isinstance(value, bool) or value is None:
        return _shown(value)
    return {str: "text", int: "a number", float: "a number"}.get(type(value), "another type")


def _shown(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value!r:.60}" if isinstance(value, str | int | float) else _type_of(value)


def line_of(root: yaml.Node | None, place: Sequence[int | str]) -> int | None:
    """The line of the key or element at a place, or of the innermost one that exists; None without
    a document.
    """
    node, line = root, None
    for part in place:
        step = _step(node, part)
        if step is None:
            break
        line, node = step
    return line


def _step(node: yaml.Node | None, part: int | str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark.line + 1, value
    return None
