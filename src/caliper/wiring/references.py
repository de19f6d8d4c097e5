"""Values that a configuration only names, because they are secret: `env:NAME` or `file:PATH`."""

from __future__ import annotations

import os
from pathlib import Path

from caliper.core.errors import InvalidInput

_ENVIRONMENT, _FILE = "env:", "file:"


def is_reference(text: str) -> bool:
    """Whether a text names where a value is."""
    return any(text.startswith(kind) and text != kind for kind in (_ENVIRONMENT, _FILE))


def under(text: str, folder: Path) -> str:
    """The reference, with a path relative to a folder."""
    if not text.startswith(_FILE):
        return text
    return f"{_FILE}{folder.absolute() / text.removeprefix(_FILE)}"


def check_absolute(text: str, field: str) -> None:
    """Raise InvalidInput for a file of another machine that is named by a relative path."""
    if text.startswith(_FILE) and not Path(text.removeprefix(_FILE)).is_absolute():
        message = "not with --server: give the absolute path at the service that evaluates suites"
        raise InvalidInput(message, field=field)


def referenced(text: str, field: str) -> str:
    """The value behind a reference, or the text itself if it is none. Raises InvalidInput, with
    the field, if there is no such variable or file, or it is empty.
    """
    if not is_reference(text):
        return text
    kind, _, name = text.partition(":")
    if f"{kind}:" == _ENVIRONMENT:
        value = os.environ.get(name, "").strip()
    else:
        try:
            value = Path(name).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"cannot read {name}", field=field) from error
    if not value:
        raise InvalidInput(f"{name} is empty or not set", field=field)
    return value
