"""`caliper evaluate`: runs or resumes an evaluation."""

from __future__ import annotations

import asyncio
import gc
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from rich.markup import escape

from caliper.adapters.exports.json import report_text
from caliper.adapters.models.cost import Cost
from caliper.adapters.phrases import already_ended, state
from caliper.cli.benchmarks import benchmark_commands
from caliper.cli.console import OUT, write_out, write_reason
from caliper.cli.exits import Exit
from caliper.cli.options import EvaluateOptions, OutputOptions
from caliper.cli.progress import run_watcher
from caliper.cli.show import (
    show_gaps,
    show_headlines,
    show_notes,
    show_place,
    show_report,
    show_reuse,
    with_execution,
)
from caliper.lazy import lazy_module
from caliper.local.config import RunConfig
from caliper.local.coroutine_runner import run_interruptible
from caliper.local.run import RunResult, evaluate_config
from caliper.local.setup import RunSetup
from caliper.ports.watcher import Watcher
from caliper.wiring.clock import SystemClock
from caliper.wiring.memory import collect_seldom
from caliper.wiring.settings import access, decoders

if TYPE_CHECKING:
    from caliper.cli import remote
else:
    remote = lazy_module("caliper.cli.remote")


def _evaluate(config: RunConfig, output: EvaluateOptions) -> int:
    collect_seldom()
    if output.server is not None:
        return asyncio.run(remote.evaluate_remotely(config, output.server, output))
    result = run_interruptible(_run(config, output))
    _show(result, output)
    # A process that ends need not look for cycles in what it leaves.
    gc.freeze()
    return Exit.DONE if not result.report.partial else Exit.NO


async def _run(config: RunConfig, output: OutputOptions) -> RunResult:
    clock = SystemClock()

    def watching(prepared: RunSetup) -> AbstractContextManager[Watcher]:
        show_gaps(config, prepared.spec, output)
        show_notes(prepared.notes, output)
        captioning = bool(prepared.models.captioners)
        return run_watcher(prepared.spec, clock, quiet=output.quiet, captioning=captioning)

    return await evaluate_config(
        config, access(config.concurrency, config.named_specs), clock, watching, decoders()
    )


def _show(result: RunResult, output: OutputOptions) -> None:
    if output.json:
        text = report_text(result.report)
        write_out(with_execution(text, result.ended_at, result.report.reuse))
    elif not output.quiet:
        show_report(result.report, OUT)
        for model, spent in result.spent.items():
            OUT.print(f"[dim]{escape(_cost(model, spent))}[/dim]", highlight=False)
        show_reuse(result.report.reuse, OUT)
        if result.ended_at is not None:
            OUT.print(f"[dim]{already_ended(result.report.state, result.ended_at)}[/dim]")
        show_headlines(result.report, OUT)
        show_place(result.directory / "report.html", OUT)
    elif result.report.partial:
        write_reason(state(result.report))


def _cost(model: str, spent: Cost) -> str:
    text = f"{model}: {spent.calls:,} calls, {spent.prompt_tokens:,} + "
    text += f"{spent.completion_tokens:,} tokens"
    if spent.cached_share is None:
        return text
    return f"{text}; prefix-cache hits: {spent.cached_share:.0%}"


app = benchmark_commands(
    _evaluate,
    EvaluateOptions,
    "Evaluate captions or a checkpoint on one benchmark, or on several from a file.",
)
