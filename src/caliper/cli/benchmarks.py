"""The subcommands that `evaluate` and `plan` share: one per benchmark, and `--config`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from caliper.benchmarks.registry import benchmark, benchmark_names
from caliper.cli.exits import Exit
from caliper.cli.options import (
    ConfigOption,
    How,
    SharedOptions,
    from_file,
    from_flags,
    part_of,
    taking,
)
from caliper.core.errors import InvalidInput
from caliper.local.config import RunConfig


def benchmark_commands(
    act: Callable[[RunConfig, How], int], shown: type[How], help_text: str
) -> typer.Typer:
    """A group of commands that each build a configuration and pass it to `act`, with the options
    of the class `shown`.
    """
    app = typer.Typer(help=help_text)

    def from_config(
        context: typer.Context, option: ConfigOption, shared: SharedOptions, how: How
    ) -> int:
        if context.invoked_subcommand is not None:
            if (option, shared, how) != (ConfigOption(), SharedOptions(), shown()):
                raise InvalidInput(
                    f"options of {context.invoked_subcommand} go behind its name, and --config "
                    "goes without one"
                )
            return Exit.DONE
        if option.config is None:
            raise InvalidInput(
                f"name a benchmark ({', '.join(benchmark_names())}) or give --config FILE"
            )
        return act(from_file(option.config, shared), how)

    app.callback(invoke_without_command=True)(
        taking(from_config, ConfigOption, SharedOptions, shown, with_context=True)
    )
    for name in benchmark_names():
        command = taking(_single(name, act), part_of(name), SharedOptions, shown)
        app.command(name, help=benchmark(name).about)(command)
    return app


def _single(
    name: str, act: Callable[[RunConfig, How], int]
) -> Callable[[Any, SharedOptions, How], int]:
    def run(part: Any, shared: SharedOptions, how: How) -> int:
        return act(from_flags(name, part, shared), how)

    return run
