"""A sink and a source of datasets as packages declare them."""

from dataclasses import dataclass
from pathlib import Path

from caliper.core.errors import InvalidInput
from caliper.ports.data_sources import Transferred
from caliper.ports.sinks import Results


@dataclass(frozen=True, slots=True)
class NotingSink:
    """ports.sinks.Sink that notes the run in a file."""

    where: str

    def write(self, results: Results) -> str:
        if not self.where:
            raise InvalidInput("name a file")
        if self.where == "ill":
            raise ValueError("ill")
        Path(self.where).write_text(results.run)
        return self.where


@dataclass(frozen=True, slots=True)
class ShelfSource:
    """ports.data_sources.DataSource that has whatever is named, empty."""

    folder: Path

    def pinned(self, name: str) -> str:
        if name == "ill":
            raise ValueError("ill")
        return f"{name}@1"

    def fetch(self, name: str, transferred: Transferred, *, media: bool) -> Path:
        self.folder.mkdir(parents=True)
        transferred(1, 1)
        place = self.folder / name
        place.write_text("[]")
        return place
