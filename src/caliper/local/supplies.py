"""The files named by a configuration, as the supplies of a run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from caliper.core.run import RunSpec
from caliper.ports.storage import Sources


@dataclass(frozen=True, slots=True)
class FileSupplies:
    """ports.storage.Supplies of open files: `files` by benchmark, and the `digests` of them all."""

    files: dict[str, Sources] = field(default_factory=dict)
    digests: set[str] = field(default_factory=set)

    async def has_dataset(self, digest: str) -> bool:
        return digest in self.digests

    async def has_captions(self, digest: str) -> bool:
        return digest in self.digests

    @asynccontextmanager
    async def sources(self, spec: RunSpec) -> AsyncIterator[Mapping[str, Sources]]:
        yield {part.name: self.files[part.name] for part in spec.benchmarks}

    @property
    def captions(self) -> dict[str, Mapping[str, str]]:
        """The supplied captions by benchmark and sample."""
        return {
            name: sources.captions
            for name, sources in self.files.items()
            if sources.captions is not None
        }
