"""The entry point of the `caliper` command, which imports as little as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caliper.cli.interrupt import leave_when_interrupted, started
from caliper.deferred import deferred

if TYPE_CHECKING:
    from caliper.cli import app
else:
    app = deferred("caliper.cli.app")


def run() -> None:
    """Run the command and exit with a code of `Exit`.

    Until the command is imported and starts, Ctrl-C ends the process at once.
    """
    leave_when_interrupted()
    try:
        app.run()
    finally:
        started()
