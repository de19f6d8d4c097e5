"""The command `caliper`, from its first instruction on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caliper.cli.interrupt import leave_when_interrupted, started
from caliper.deferred import deferred

if TYPE_CHECKING:
    from caliper.cli import app
else:
    app = deferred("caliper.cli.app")


def run() -> None:
    """Run the command and exit with the codes of `Exit`.

    Until the command is imported and begins its work, Ctrl-C ends the process at once.
    """
    leave_when_interrupted()
    try:
        app.run()
    finally:
        started()
