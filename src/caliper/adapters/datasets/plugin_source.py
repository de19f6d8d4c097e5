"""Sources of datasets that other packages declare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from caliper.plugins import blame
from caliper.ports.data_sources import DataSource, Transferred


@dataclass(frozen=True, slots=True)
class PluginSource:
    """ports.data_sources.DataSource of another package, which `plugin` names. Its methods also
    raise FunctionFailed, for errors that are not Caliper's.
    """

    source: DataSource
    plugin: str

    def pinned(self, name: str) -> str:
        with blame(self.plugin):
            return self.source.pinned(name)

    def fetch(self, name: str, transferred: Transferred, *, media: bool) -> Path:
        with blame(self.plugin):
            return Path(self.source.fetch(name, transferred, media=media))
