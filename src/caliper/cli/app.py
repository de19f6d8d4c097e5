"""The `caliper` command: its global options, and its exit codes."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from typer.exceptions import TyperException

from caliper.cli.commands import CommandsByName
from caliper.cli.console import ERR, escape_unwritable
from caliper.cli.exits import Exit
from caliper.cli.interrupt import end_on_interrupt, ignore_interrupt
from caliper.core.errors import (
    AlreadyExists,
    BackendError,
    CaliperError,
    FunctionFailed,
    InvalidInput,
    LeaseLost,
    MediaMissing,
    ModelChanged,
    NotComparable,
    NotFound,
    NotReady,
    StoreUnavailable,
    StreamUnavailable,
)
from caliper.lazy import lazy_module
from caliper.version import __version__

if TYPE_CHECKING:
    import asyncio

    from typer import rich_utils

    from caliper.cli import usage_errors
else:
    asyncio = lazy_module("asyncio")
    rich_utils = lazy_module("typer.rich_utils")
    usage_errors = lazy_module("caliper.cli.usage_errors")

app = typer.Typer(
    name="caliper",
    cls=CommandsByName,
    help="Evaluate image and video captioning checkpoints on CAPability, CaptionQA and CompreCap.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done or passed; 1 the answer is no (coverage under the floor, canary "
    "failed); 2 bad input or usage; 3 inconclusive; 4 environment problem (disk, endpoint); 70 "
    "internal error, please report; 130 interrupted, rerun the same command to resume.",
)


def _version(flag: bool) -> None:  # noqa: FBT001 - typer hands the flag over by position
    if flag:
        typer.echo(f"caliper {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Options before the command."""


def run() -> None:
    """Run the command and exit with a code of `Exit`."""
    escape_unwritable()
    try:
        code = app(prog_name="caliper", standalone_mode=False)
        sys.stdout.flush()
    except (asyncio.CancelledError, KeyboardInterrupt, typer.Abort):
        code = Exit.INTERRUPTED
    except TyperException as error:
        usage_errors.reword(error)
        # All usage errors derive from typer's ClickException, which is private.
        rich_utils.rich_format_error(error)  # type: ignore[arg-type]
        code = Exit.BAD_INPUT
    except CaliperError as error:
        ERR.print(f"[bold red]Error:[/bold red] {escape(str(error))}", soft_wrap=True)
        code = _code(error)
    except SystemExit as stop:
        # Raised by shell completion, with 0, and by rich when the reader of its output is gone.
        code = Exit.SURROUNDINGS if stop.code else Exit.DONE
    except BrokenPipeError:
        # The reader of our output is gone. Discard the rest, or Python would complain when it
        # flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.SURROUNDINGS
    except OSError as error:
        named = error.filename is not None
        told = f"{error.filename}: {error.strerror}" if named else str(error)
        ERR.print(f"[bold red]Error:[/bold red] {escape(told)}", soft_wrap=True)
        expected = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS)
        if not named and error.errno not in expected:
            ERR.print_exception()
        code = Exit.BAD_INPUT if error.errno == errno.ENAMETOOLONG else Exit.SURROUNDINGS
    except Exception:  # noqa: BLE001 - the last resort reports an internal error
        ERR.print_exception()
        ERR.print("[bold red]Internal error of Caliper.[/bold red] Please report it.")
        code = Exit.DEFECT
    if code == Exit.INTERRUPTED:
        # A second one would be raised here, and end the process with a traceback.
        ignore_interrupt()
        ERR.print("[yellow]Interrupted.[/yellow] Rerun the same command to resume.")
        end_on_interrupt()
    sys.exit(int(code or Exit.DONE))


def _code(error: CaliperError) -> Exit:
    match error:
        case (
            InvalidInput()
            | MediaMissing()
            | NotFound()
            | NotReady()
            | NotComparable()
            | AlreadyExists()
        ):
            return Exit.BAD_INPUT
        case (
            BackendError()
            | FunctionFailed()
            | ModelChanged()
            | LeaseLost()
            | StoreUnavailable()
            | StreamUnavailable()
        ):
            return Exit.SURROUNDINGS
        case _:
            return Exit.DEFECT
