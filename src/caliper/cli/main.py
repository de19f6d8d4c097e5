"""The entry point of the `caliper` command, which imports as little as possible."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from caliper.cli.interrupt import exit_on_interrupt, restore_interrupt
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.cli import app
else:
    app = lazy_module("caliper.cli.app")


def run() -> None:
    """Run the command and exit with a code of `Exit`.

    Until the command is imported and starts, Ctrl-C ends the process at once.
    """
    exit_on_interrupt()
    # Imports leave no garbage, and looking for it takes a tenth of the start-up.
    gc.disable()
    try:
        app.run()
    finally:
        gc.enable()
        restore_interrupt()
