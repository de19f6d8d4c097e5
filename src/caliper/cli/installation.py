"""The options that name an installation."""

from __future__ import annotations

from typing import Annotated

import typer

_SERVER = "The gateway of an installation; https://HOST:PORT for TLS."
Server = Annotated[str, typer.Option("--server", metavar="HOST:PORT", help=_SERVER)]
InstalledServer = Annotated[str | None, typer.Option("--server", metavar="HOST:PORT", help=_SERVER)]
InstalledStore = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR|URL",
        help="The installation's store: a directory, or an S3 endpoint (CALIPER_STORE_BUCKET "
        "etc.). Default: CALIPER_STORE.",
    ),
]
