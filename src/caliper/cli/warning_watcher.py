"""Shows a run's warnings."""

from __future__ import annotations

from rich.markup import escape

from caliper.cli.console import ERR
from caliper.local.watchers import SilentWatcher


class WarningWatcher(SilentWatcher):
    """A ports.watcher.Watcher that shows only warnings."""

    def on_warning(self, text: str) -> None:
        ERR.print(f"[yellow]Warning:[/yellow] {escape(text)}", soft_wrap=True)
