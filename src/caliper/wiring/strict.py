"""Configuration models that refuse unknown keys, with exact locations in errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from caliper.core.errors import InvalidInput


class Strict(BaseModel):
    """A frozen model in which unknown keys are an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def first_problem(
    error: ValidationError, known: Iterable[str], file: str, root: yaml.Node | None = None
) -> InvalidInput:
    """The first problem of a configuration, naming file, line and field.

    `known` are the keys to list if one is unknown, `root` is the document, if it has lines.
    """
    problem = error.errors()[0]
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        message = f"unknown key; known: {', '.join(sorted(known))}"
    field = ".".join(str(part) for part in problem["loc"])
    return InvalidInput(message, file=file, line=line_of(root, problem["loc"]), field=field)


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
