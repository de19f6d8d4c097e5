"""The commands by name, each imported only when it is used."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from typing import Any

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from caliper.cli.empty_values import refuse_empty_values
from caliper.cli.interrupt import restore_interrupt
from caliper.core.errors import InvalidInput
from caliper.lazy import require

COMMANDS: dict[str, tuple[str, str]] = {
    "report": (
        "report:report",
        "Show a run's report and rewrite its files from the plan and the verdicts.",
    ),
    "export": ("export:command", "Put the results of runs into sinks: files, trackers."),
    "view": (
        "view:command",
        "Browse runs with all their verdicts, or write a run as one page to share.",
    ),
    "explain": (
        "explain:explain",
        "Explain one sample of a run: its plan, caption, replies and verdicts.",
    ),
    "compare": ("compare:command", "Compare runs with BASE, metric by metric."),
    "gate": ("gate:command", "Decide whether CANDIDATE may replace BASE."),
    "leaderboard": (
        "leaderboard:command",
        "Rank checkpoints: one table per benchmark, best first.",
    ),
    "agreement": (
        "agreement:agreement",
        "Measure how well judges agree with each other or with people.",
    ),
    "labels": ("label_tasks:app", "Label with people, in Label Studio."),
    "correlation": (
        "correlation:correlation",
        "Correlate metrics with people's scores over models (CompreCap, Table 3).",
    ),
    "analyze": ("analyze:app", "The analyses of a benchmark's paper."),
    "metrics": (
        "metrics.command:command",
        "Compare captions with reference captions: BLEU, ROUGE-L, CIDEr, METEOR, SPICE, CLIPScore.",
    ),
    "validate": ("validate:validate", "Check a dataset, captions, run or config file."),
    "canary": (
        "canary.command:command",
        "Test a judge, a reader or both with captions that contain prompt injections.",
    ),
    "doctor": (
        "doctor.command:command",
        "Check everything that a run needs, one line each, with advice.",
    ),
    "serve": (
        "serve:command",
        "Serve the gateway, judge, reader, captioner and aggregator from one process and port.",
    ),
    "runs": ("runs:app", "List the runs of an installation, newest first, or remove old ones."),
    "watch": (
        "remote:watch",
        "Watch a run of an installation until it ends. Exit code 1 if it is not complete.",
    ),
    "cancel": ("remote:cancel", "Cancel a run of an installation."),
    "evaluate": (
        "evaluate:app",
        "Evaluate captions or a checkpoint on one benchmark, or on several from a file.",
    ),
    "build": ("building.app:app", "Build a benchmark of your own, and review it."),
    "new": ("new:app", "Start a benchmark of your own."),
    "plugins": ("plugins:plugins", "List the plug-ins of other packages."),
    "plan": (
        "plan:app",
        "Estimate what a run would take: samples, questions, calls, tokens, storage.",
    ),
    "size": (
        "size.command:command",
        "Estimate which GPUs hold a model, and its calls at once.",
    ),
    "suite": ("suite_run:app", "Evaluate every checkpoint as a suite defines."),
    "checkpoint": ("checkpoints:app", "The checkpoints of suites."),
    "trend": ("trend:command", "Show the figures of a suite by training step."),
    "topics": ("installation_setup:topics", "The Kafka topics of an installation."),
    "storage": ("installation_setup:storage", "The bucket of an installation."),
    "data": ("data:app", "Datasets of an installation."),
    "quota": (
        "quota:quota",
        "Show your team's use of quotas; administrators see all.",
    ),
    "dead-letters": (
        "dead_letters:app",
        "Jobs that failed for good: list, explain and retry them.",
    ),
}
"""The location of each command below `caliper.cli`, and the first paragraph of its help.

The help is repeated here so that `caliper --help` imports no command; a test keeps it equal to the
command's own.
"""


class CommandsByName(TyperGroup):
    """A group that lists its commands from `COMMANDS` and imports only the one that runs.

    `commands` holds the commands themselves, imported on access.
    """

    def __init__(self, **declared: Any) -> None:
        super().__init__(**declared)
        self.commands = _LazyCommands()  # type: ignore[assignment]  # never modified

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - as typer calls it
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as above
        """A stub with the name and help of a command: enough for help and completion."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None:
            command = self.commands[name]
            restore_interrupt()
        return name, command, rest


class _LazyCommands(Mapping[str, Any]):
    def __getitem__(self, name: str) -> Any:
        module, _, attribute = COMMANDS[name][0].partition(":")
        try:
            command = getattr(require(f"caliper.cli.{module}"), attribute)
        except InvalidInput as missing:
            return _without_extra(name, missing)
        gc.enable()
        group = typer.Typer(rich_markup_mode="rich")
        if isinstance(command, typer.Typer):
            group.add_typer(command, name=name)
        else:
            group.command(name)(command)
        built = typer.main.get_group(group).commands[name]
        refuse_empty_values(built)
        return built

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _without_extra(name: str, missing: InvalidInput) -> TyperCommand:
    """A command that needs an extra which is not installed: only its help works."""

    def refuse() -> None:
        raise missing

    return TyperCommand(
        name,
        callback=refuse,
        help=f"{COMMANDS[name][1]}\n\nIt {escape(str(missing))}",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
