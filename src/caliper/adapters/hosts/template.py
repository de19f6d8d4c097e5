"""Fills the templates of a checkpoint's server in a suite: {path}, {revision} and the like."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import InvalidInput

# Braces of JSON and of shells stay: only whole words are fields.
_FIELD = re.compile(r"\{([a-z]+)\}")
FIELDS = ("path", "source", "revision", "name", "step")


def checkpoint_fields(checkpoint: CheckpointRevision) -> dict[str, str]:
    """The values of `FIELDS`; `path` is another name of the source."""
    step = "" if checkpoint.step is None else str(checkpoint.step)
    source = checkpoint.source
    return dict(
        zip(FIELDS, (source, source, checkpoint.revision, checkpoint.name, step), strict=True)
    )


def fill(template: Any, fields: Mapping[str, str]) -> Any:
    """The template, a text or a tree of lists and mappings with texts in it, with its fields
    replaced. Raises InvalidInput for a field that is not known.
    """
    if isinstance(template, Mapping):
        return {key: fill(value, fields) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill(value, fields) for value in template]
    if not isinstance(template, str):
        return template
    for name in _FIELD.findall(template):
        if name not in fields:
            raise InvalidInput(f"unknown field {{{name}}}; known: {', '.join(sorted(fields))}")
    return _FIELD.sub(lambda match: fields[match[1]], template)
