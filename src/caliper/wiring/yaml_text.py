"""Reads handwritten YAML strictly, with exact locations in errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from caliper.adapters.plain_yaml import PlainLoader, load_yaml
from caliper.core.errors import InvalidInput


def read_document(path: Path) -> tuple[yaml.Node | None, Any]:
    """The root node of a file, with line numbers, None if it is empty; and its value.

    Raises InvalidInput naming file and line, for broken YAML, for an alias, and for a key that
    appears twice in one mapping.
    """
    try:
        text = path.read_text("utf-8")
        root: yaml.Node | None = yaml.compose(text, Loader=PlainLoader)
        duplicate = _duplicate_key(root)
        if duplicate is not None:
            raise InvalidInput(
                f"the key {duplicate.value} appears twice in one mapping",
                file=str(path),
                line=duplicate.start_mark.line + 1,
            )
        return root, load_yaml(text)
    except OSError as error:
        raise InvalidInput(f"cannot read it: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("not UTF-8", file=str(path)) from error
    except (ValueError, RecursionError) as error:
        # Impossible dates, numbers that are too long, brackets nested too deep.
        raise InvalidInput(f"not YAML: {error}", file=str(path)) from error
    except yaml.YAMLError as error:
        raise not_yaml(path, error) from error


def not_yaml(path: Path, error: yaml.YAMLError) -> InvalidInput:
    """The error for a file of broken YAML, with its line."""
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else None
    problem = getattr(error, "problem", None) or "it cannot be read as YAML"
    return InvalidInput(f"not YAML: {problem}", file=str(path), line=line)


def _duplicate_key(root: yaml.Node | None) -> yaml.ScalarNode | None:
    """The second occurrence of the first key that appears twice in one mapping."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.SequenceNode):
            pending.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            keys = set[str]()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in keys:
                        return key
                    keys.add(key.value)
                pending.append(value)
    return None
