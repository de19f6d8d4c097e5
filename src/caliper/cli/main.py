"""The entry point of the `caliper` command, which imports nothing slow before it handles Ctrl-C."""

from __future__ import annotations

from caliper.cli.interrupt import exit_on_interrupt, restore_interrupt


def run() -> None:
    """Run the command and exit with a code of `Exit`.

    Until the command is imported and starts, Ctrl-C ends the process at once.
    """
    exit_on_interrupt()
    import gc  # noqa: PLC0415 - after Ctrl-C is handled, as all below

    from caliper.cli.closed_streams import open_closed_streams  # noqa: PLC0415

    open_closed_streams()
    # Imports leave no garbage, and looking for it takes a tenth of the start-up.
    gc.disable()
    try:
        from caliper.cli import app  # noqa: PLC0415

        app.run()
    finally:
        gc.enable()
        restore_interrupt()
