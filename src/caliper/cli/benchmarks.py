"""The sub-commands that `evaluate` and `plan` share: one a benchmark, and `--config`."""

from __future__ import annotations

from collections.abc import Callable

import typer

from caliper.cli.exits import Exit
from caliper.cli.options import (
    CapabilityPart,
    CaptionQaPart,
    CompreCapPart,
    FromFile,
    How,
    Part,
    Shared,
    from_file,
    from_flags,
    taking,
)
from caliper.core.errors import InvalidInput
from caliper.standalone.config import RunConfig

_CAPABILITY = """CAPability: 13 tasks, judged for correctness and thoroughness.

--data is a folder with one JSON Lines file a task, --captions a folder of the same kind with
rows of file_id and caption.
"""
_CAPTIONQA = """CaptionQA: multiple-choice questions, answered from the caption alone.

--data is a parquet, JSON or JSON Lines file (or a folder of them), --captions a JSON object
from id to text.
"""
_COMPRECAP = """CompreCap: coverage of objects, attributes and relations of a scene graph.

--data is anno.json with masks, --captions a JSON object from image name to text.
"""
_PARTS: dict[str, tuple[type, str]] = {
    "capability": (CapabilityPart, _CAPABILITY),
    "captionqa": (CaptionQaPart, _CAPTIONQA),
    "comprecap": (CompreCapPart, _COMPRECAP),
}


def benchmark_commands(
    act: Callable[[RunConfig, How], int], shown: type[How], help_text: str
) -> typer.Typer:
    """A group of commands, each of which builds a configuration and hands it to `act`, with
    the options of `shown`.
    """
    app = typer.Typer(help=help_text)

    def several(context: typer.Context, given: FromFile, shared: Shared, how: How) -> int:
        if context.invoked_subcommand is not None:
            if (given, shared, how) != (FromFile(), Shared(), shown()):
                raise InvalidInput(
                    f"options of {context.invoked_subcommand} go behind its name, and --config "
                    "goes without one"
                )
            return Exit.DONE
        if given.config is None:
            raise InvalidInput(f"name a benchmark ({', '.join(_PARTS)}) or give --config FILE")
        return act(from_file(given.config, shared), how)

    app.callback(invoke_without_command=True)(
        taking(several, FromFile, Shared, shown, with_context=True)
    )
    for name, (part, text) in _PARTS.items():
        command = taking(_one(name, act), part, Shared, shown)
        app.command(name, help=text)(command)
    return app


def _one(name: str, act: Callable[[RunConfig, How], int]) -> Callable[[Part, Shared, How], int]:
    def one(part: Part, shared: Shared, how: How) -> int:
        return act(from_flags(name, part, shared), how)

    return one
