"""YAML as people write it: read strictly, and told exactly where it is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from caliper.core.errors import InvalidInput


def read_yaml(path: Path) -> Any:
    """The value in a file. Raises what `read_nodes` raises."""
    return _read(path)[1]


def read_nodes(path: Path) -> yaml.Node | None:
    """What is in a file, with the lines where it stands; None for an empty one.

    Refused beside broken YAML: the same key twice in one mapping (which one counts?). Raises
    InvalidInput naming file and line.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[yaml.Node | None, Any]:
    try:
        text = path.read_text("utf-8")
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        twin = _stands_twice(root)
        if twin is not None:
            raise InvalidInput(
                f"the key {twin.value} appears twice in one mapping",
                file=str(path),
                line=twin.start_mark.line + 1,
            )
        return root, yaml.safe_load(text)
    except OSError as error:
        raise InvalidInput(f"cannot read it: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("not UTF-8", file=str(path)) from error
    except (ValueError, RecursionError) as error:
        # A date that no calendar has, a number that is too long, brackets without end.
        raise InvalidInput(f"not YAML: {error}", file=str(path)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        problem = getattr(error, "problem", None) or "it cannot be read as YAML"
        raise InvalidInput(f"not YAML: {problem}", file=str(path), line=line) from error


def _stands_twice(root: yaml.Node | None) -> yaml.ScalarNode | None:
    """The first key found to stand twice in one mapping, as it was written."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        # An alias leads back to a node that was looked at before.
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            keys = set[str]()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if key.value in keys:
                        return key
                    keys.add(key.value)
                waiting.append(value)
    return None
