"""`caliper data`: pushes a dataset with its media to an installation, and lists those there."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from caliper.cli.console import ERR, OUT, write_json
from caliper.cli.data_progress import with_data
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.installation import Server
from caliper.cli.options import OutputOptions, command_taking
from caliper.core.keys import fields_of
from caliper.local.config import check_config
from caliper.local.installation import ask_gateway, open_gateway
from caliper.local.submission import parcel_of, parcels_from_media
from caliper.pipeline.store.dataset_names import check_dataset_name
from caliper.pipeline.store.supplies import Parcel

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME[@VERSION]",
        help="The dataset's name; without VERSION, it is found by its digest only.",
    ),
]
Place = Annotated[
    Path, typer.Argument(metavar="PATH", help="A path, or a name as in docs/data.md.")
]
Benchmark = Annotated[
    str | None,
    typer.Option("--benchmark", help="The dataset's benchmark, if not NAME."),
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
        help="Questions from the media, pushed with media that only they use.",
    ),
]

HELP = """Push a dataset to an installation, with its media.

Prints the digest that names the dataset in evaluations and, with --qa, the digest of the
questions on a second line. The content of NAME@VERSION never changes. Identical media are stored
once. After an interruption, the same command resumes: nothing is sent twice.
"""

_MOST_NAMED = 5
"""The most missing media to name; their number is always shown."""

app = typer.Typer(help="Datasets of an installation.", no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class PushOptions:
    """The arguments and options of `push`."""

    name: Name
    data: Place
    server: Server
    benchmark: Benchmark = None
    media: MediaRoot = None
    qa: Qa = None

    def parcels(self, *, quiet: bool) -> dict[str, Parcel]:
        """The datasets and media of a run with a captioner; data given by name are fetched. Raises
        what `fetch_data` raises.
        """
        if "@" in self.name:
            check_dataset_name(self.name, "NAME[@VERSION]")
        name = self.benchmark or self.name.partition("@")[0]
        values = {"data": self.data, "media": self.media, "qa": self.qa, "captioner": "any"}
        config = check_config({"benchmarks": {name: values}}, file="command line")
        part = with_data(config, quiet=quiet).benchmarks[name]
        return {"dataset": parcel_of(name, part), **parcels_from_media(name, part)}


def push(options: PushOptions, output: OutputOptions) -> int:
    """Push a dataset."""
    parcels = options.parcels(quiet=output.quiet)
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
        asyncio.run(_push(options, parcels, lambda sent: bar.advance(task, sent)))
    missing = parcels["dataset"].missing
    if missing:
        names = ", ".join(missing[:_MOST_NAMED]) + (", ..." if len(missing) > _MOST_NAMED else "")
        total = len(missing) + len(parcels["dataset"].media)
        text = f"{len(missing):,} of {total:,} media are missing and were not pushed: {names}"
        ERR.print(f"[yellow]Warning:[/yellow] {escape(text)}", soft_wrap=True, highlight=False)
    digests = {field: parcel.digest for field, parcel in parcels.items()}
    if output.json:
        counts = {
            "files": sum(len(parcel.files) for parcel in parcels.values()),
            "media": sum(len(parcel.media) for parcel in parcels.values()),
            "lacking": len(missing),
            "bytes": size,
        }
        write_json(digests | counts)
    else:
        OUT.print(*digests.values(), sep="\n", highlight=False)
    return Exit.DONE


app.command("push", help=HELP)(command_taking(push, PushOptions, OutputOptions))


async def _push(
    options: PushOptions, parcels: Mapping[str, Parcel], advance: Callable[[int], None]
) -> None:
    async with open_gateway(options.server) as gateway:
        for field, parcel in parcels.items():
            name = options.name if field == "dataset" and "@" in options.name else ""
            await gateway.push(parcel, name, advance)


@app.command("list")
def list_named(server: Server, json: Json = False) -> int:
    """List the datasets that have a name."""
    datasets = asyncio.run(ask_gateway(server, lambda gateway: gateway.datasets()))
    if json:
        write_json([fields_of(each) for each in datasets])
        return Exit.DONE
    for each in datasets:
        line = f"{each.name}  {each.benchmark}  {each.dataset}"
        OUT.print(line, soft_wrap=True, highlight=False)
    return Exit.DONE
