"""Errors in values of flags, in the words of errors in files."""

from __future__ import annotations

from pydantic import ValidationError
from typer.exceptions import TyperException

from caliper.wiring.strict import problem_text


def reword(error: TyperException) -> None:
    """Give the error of a flag's value the message that a run file's would have. typer's own are
    pydantic's.
    """
    if isinstance(error.__cause__, ValidationError):
        problem = error.__cause__.errors()[0]
        # A function's own message is plain; typer has escaped it.
        own = error.message.removeprefix("Value error, ")
        error.message = own if problem["type"] == "value_error" else problem_text(problem)
