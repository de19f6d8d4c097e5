"""The data of the web pages, from an installation or from run directories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from caliper.analysis.leaderboard import Board
from caliper.core.run import RunSpec
from caliper.pipeline.comparing.comparer import Pictures, PicturesOf
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest
from caliper.pipeline.gateway.gateway import Page
from caliper.pipeline.reports.run_reader import RunReader
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.suites.administration import Administration
from caliper.ports.storage import ObjectStore


class RunList(Protocol):
    """The runs, newest first, like those of an installation from `pipeline.gateway.Gateway`."""

    async def list(self, size: int = 0, token: str = "", name: str = "") -> Page: ...

    async def get(self, run: str) -> Evaluation: ...


class CaptionsOf(Protocol):
    """As `pipeline.store.caption_book.CaptionBook`."""

    async def captions(
        self, spec: RunSpec, samples: Iterable[tuple[str, str]]
    ) -> Mapping[tuple[str, str], str]: ...


class RunComparer(Protocol):
    """As `pipeline.comparing.comparer.Comparer`."""

    async def compare(
        self, runs: Sequence[str], request: ComparisonRequest, *, pictures: bool = False
    ) -> tuple[Comparison, Pictures]: ...


@dataclass(frozen=True, slots=True)
class PageSources:
    """The sources of the data on pages. `has_media` says whether media of a run's benchmark can be
    shown; `rank` makes the leaderboard of all runs, and `suites` has the checkpoints of suites,
    where there are any.
    """

    gateway: RunList
    reader: RunReader
    comparer: RunComparer
    runs: RunBook
    store: ObjectStore
    captions: CaptionsOf
    has_media: Callable[[RunSpec, str, str], Awaitable[bool]]
    pictures: PicturesOf
    rank: Callable[[ComparisonRequest], Awaitable[Sequence[Board]]] | None = None
    suites: Administration | None = None
