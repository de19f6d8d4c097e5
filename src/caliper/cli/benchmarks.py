"""The subcommands that `evaluate` and `plan` share: one per benchmark, and `--config`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import typer

from caliper.benchmarks.registry import benchmark, benchmark_names
from caliper.cli.data_progress import with_data
from caliper.cli.exits import Exit
from caliper.cli.options import (
    ConfigOption,
    How,
    SharedOptions,
    command_taking,
    from_file,
    from_flags,
    part_of,
)
from caliper.core.errors import InvalidInput
from caliper.local.config import RunConfig

_UNUSABLE = "A plug-in that cannot be used: see caliper plugins."
_ANY_OPTIONS = {"ignore_unknown_options": True, "allow_extra_args": True}


def benchmark_commands(
    act: Callable[[RunConfig, How], int], output: type[How], help_text: str, *, media: bool = True
) -> typer.Typer:
    """A group of commands that each build a configuration, fetch the data that it names, and pass
    it to `act`, with the options of the class `output`. `media` is as for `fetch_data`.
    """

    def action(config: RunConfig, how: How) -> int:
        return act(with_data(config, quiet=how.quiet, media=media), how)

    app = typer.Typer(help=help_text)

    def from_config(
        context: typer.Context, option: ConfigOption, shared: SharedOptions, how: How
    ) -> int:
        if context.invoked_subcommand is not None:
            if (option, shared, how) != (ConfigOption(), SharedOptions(), output()):
                raise InvalidInput(
                    f"options of {context.invoked_subcommand} go after its name, and --config "
                    "takes no benchmark"
                )
            return Exit.DONE
        if option.config is None:
            raise InvalidInput(
                f"name a benchmark ({', '.join(benchmark_names())}) or give --config FILE"
            )
        return action(from_file(option.config, shared), how)

    app.callback(invoke_without_command=True)(
        command_taking(from_config, ConfigOption, SharedOptions, output, with_context=True)
    )

    def of_one(name: str, part: Any, shared: SharedOptions, how: How) -> int:
        return action(from_flags(name, part, shared), how)

    for name in benchmark_names():
        try:
            description, part = benchmark(name).description, part_of(name)
        except InvalidInput as error:
            app.command(name, help=_UNUSABLE, context_settings=_ANY_OPTIONS)(_refusal(error))
            continue
        command = command_taking(partial(of_one, name), part, SharedOptions, output)
        app.command(name, help=description)(command)
    return app


def _refusal(error: InvalidInput) -> Callable[[], int]:
    def refuse() -> int:
        raise error

    return refuse
