"""`caliper data push`: a dataset and its media, put into the store of an installation."""

from __future__ import annotations

import asyncio
import json as json_module
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from caliper.cli.console import ERR, OUT
from caliper.cli.exits import Exit
from caliper.cli.flags import Data, Json, Quiet
from caliper.pipeline.supplies import push_dataset
from caliper.runtime.service_settings import ClientSettings
from caliper.runtime.settings import read_settings
from caliper.servicers.grounds import open_store
from caliper.standalone.config import checked
from caliper.standalone.remote import parcel_at

Benchmark = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help="capability, captionqa or comprecap.")
]
MediaRoot = Annotated[
    Path | None,
    typer.Option("--media", help="Folder that media paths are relative to. Default: the data's."),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR|URL",
        help="The installation's store: a directory, or an S3 endpoint (bucket and keys in "
        "CALIPER_STORE_BUCKET, CALIPER_STORE_ACCESS_KEY and CALIPER_STORE_SECRET_KEY). Default: "
        "what CALIPER_STORE names.",
    ),
]

app = typer.Typer(help="Datasets in the store of an installation.", no_args_is_help=True)


# A group with one command would otherwise be that command.
@app.callback()
def _group() -> None:
    pass


@app.command("push")
def push(
    benchmark: Benchmark,
    data: Data,
    media: MediaRoot = None,
    store: Store = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Put a dataset into the store, with the media that it names as far as they are here.

    Prints the digest that names the dataset in evaluations. Media are kept once by content,
    whatever datasets name them. Cut short, the same command goes on: what is there is not
    sent again.
    """
    written = {"benchmarks": {benchmark: {"data": data, "media": media, "captions": data}}}
    part = checked(written, file="command line").benchmarks[benchmark]
    parcel = parcel_at(benchmark, part.data, part.media_root)
    settings = read_settings(ClientSettings)
    if store is not None:
        settings = settings.model_copy(update={"store": store})
    there = open_store(settings)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=ERR,
        disable=quiet or not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("pushing", total=parcel.size)
        asyncio.run(push_dataset(there, parcel, lambda size: bar.advance(task, size)))
    told = {
        "dataset": parcel.digest,
        "files": len(parcel.files),
        "media": len(parcel.media),
        "bytes": parcel.size,
    }
    if json:
        sys.stdout.write(json_module.dumps(told, indent=2) + "\n")
    else:
        OUT.print(parcel.digest, highlight=False)
    return Exit.DONE
