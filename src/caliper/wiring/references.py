"""References to secret values in a configuration: `env:NAME` or `file:PATH`."""

from __future__ import annotations

import os
from pathlib import Path

from caliper.core.errors import InvalidInput

_ENVIRONMENT, _FILE = "env:", "file:"


def is_reference(text: str) -> bool:
    """Whether a text is a reference."""
    return any(text.startswith(kind) and text != kind for kind in (_ENVIRONMENT, _FILE))


def under(text: str, folder: Path) -> str:
    """The reference; a relative path is resolved against a folder."""
    if not text.startswith(_FILE):
        return text
    return f"{_FILE}{folder.absolute() / text.removeprefix(_FILE)}"


def check_absolute(text: str, field: str) -> None:
    """Raise InvalidInput for a relative path to a file on another machine."""
    if text.startswith(_FILE) and not Path(text.removeprefix(_FILE)).is_absolute():
        message = "not with --server: give the absolute path at the service that evaluates suites"
        raise InvalidInput(message, field=field)


def referenced(text: str, field: str) -> str:
    """The value behind a reference; other texts are returned as they are. Raises InvalidInput, with
    the field, if the variable or file does not exist or is empty.
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
