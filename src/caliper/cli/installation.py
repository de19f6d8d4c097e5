"""The option that names an installation."""

from __future__ import annotations

from typing import Annotated

import typer

_SERVER = "The gateway of an installation; https://HOST:PORT for TLS."
Server = Annotated[str, typer.Option("--server", metavar="HOST:PORT", help=_SERVER)]
InstalledServer = Annotated[str | None, typer.Option("--server", metavar="HOST:PORT", help=_SERVER)]
