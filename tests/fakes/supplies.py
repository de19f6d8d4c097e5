"""Supplies of planned runs."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from tests.fakes import runs

from caliper.core.errors import InvalidInput
from caliper.core.run import RunSpec
from caliper.ports.storage import Sources


class TwoSamples:
    """ports.storage.Supplies with two samples of CaptionQA, or with none but an `error`."""

    error = ""

    async def has_dataset(self, _: str) -> bool:
        return True

    async def has_captions(self, _: str) -> bool:
        return True

    @asynccontextmanager
    async def sources(self, _: RunSpec) -> AsyncIterator[Mapping[str, Sources]]:
        if self.error:
            raise InvalidInput(self.error)
        rows = runs.choice_rows(2, 1)
        yield {"captionqa": runs.sources(rows, {"nat_000": "one", "nat_001": "two"})}
