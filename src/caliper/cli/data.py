"""`caliper data push`: pushes a dataset and its media to the store of an installation."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from caliper.benchmarks.registry import benchmark_names
from caliper.cli.console import ERR, OUT, write_json
from caliper.cli.data_progress import with_data
from caliper.cli.exits import Exit
from caliper.cli.flags import Data
from caliper.cli.installation import InstalledStore
from caliper.cli.options import OutputOptions, command_taking
from caliper.local.config import check_config
from caliper.local.installation import store_at
from caliper.local.submission import parcel_of, parcels_from_media
from caliper.pipeline.store.supplies import Parcel, push_dataset
from caliper.ports.storage import ObjectStore

Benchmark = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help=f"One of {', '.join(benchmark_names())}.")
]
MediaRoot = Annotated[
    Path | None,
    typer.Option(
        "--media", help="Folder that media paths are relative to. Default: the data's folder."
    ),
]
Qa = Annotated[
    Path | None,
    typer.Option(
        "--qa",
        metavar="PATH",
        help="Questions from the media, pushed with the media that only they name.",
    ),
]

HELP = """Push a dataset to the store, with its media as far as they are here.

Prints the digest that names the dataset in evaluations and, with --qa, the digest of the
questions on a second line. Identical media are stored once. After an interruption the same
command resumes: nothing is sent twice.
"""

_MOST_NAMED = 5
"""The most missing media to name; their number is always shown."""

app = typer.Typer(help="Datasets in the store of an installation.", no_args_is_help=True)


# A group with one command would otherwise be that command.
@app.callback()
def _group() -> None:
    pass


@dataclass(frozen=True, slots=True)
class PushOptions:
    """What to push, and where to."""

    benchmark: Benchmark
    data: Data
    media: MediaRoot = None
    qa: Qa = None
    store: InstalledStore = None

    def parcels(self, *, quiet: bool) -> dict[str, Parcel]:
        """Everything that a run with a captioner needs, fetched if it is named. Raises what
        `fetch_data` raises.
        """
        values = {"data": self.data, "media": self.media, "qa": self.qa, "captioner": "any"}
        named = check_config({"benchmarks": {self.benchmark: values}}, file="command line")
        config = with_data(named, quiet=quiet)
        part = config.benchmarks[self.benchmark]
        dataset = parcel_of(self.benchmark, part)
        return {"dataset": dataset, **parcels_from_media(self.benchmark, part)}


def push(options: PushOptions, output: OutputOptions) -> int:
    """Push a dataset to the store."""
    parcels, store = options.parcels(quiet=output.quiet), store_at(options.store)
    size = sum(parcel.size for parcel in parcels.values())
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=ERR,
        disable=output.quiet or not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("pushing", total=size)
        asyncio.run(_push(store, parcels.values(), lambda sent: bar.advance(task, sent)))
    lacking = parcels["dataset"].missing
    if lacking:
        names = ", ".join(lacking[:_MOST_NAMED]) + (", ..." if len(lacking) > _MOST_NAMED else "")
        total = len(lacking) + len(parcels["dataset"].media)
        text = f"{len(lacking)} of {total} media are not here and were not pushed: {names}"
        ERR.print(f"[yellow]Warning:[/yellow] {escape(text)}", soft_wrap=True, highlight=False)
    digests = {field: parcel.digest for field, parcel in parcels.items()}
    if output.json:
        counts = {
            "files": sum(len(parcel.files) for parcel in parcels.values()),
            "media": sum(len(parcel.media) for parcel in parcels.values()),
            "lacking": len(lacking),
            "bytes": size,
        }
        write_json(digests | counts)
    else:
        OUT.print(*digests.values(), sep="\n", highlight=False)
    return Exit.DONE


app.command("push", help=HELP)(command_taking(push, PushOptions, OutputOptions))


async def _push(
    store: ObjectStore, parcels: Iterable[Parcel], advance: Callable[[int], None]
) -> None:
    for parcel in parcels:
        await push_dataset(store, parcel, advance)
