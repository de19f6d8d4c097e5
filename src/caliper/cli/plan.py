"""`caliper plan`: estimates the cost of a run before it starts."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table

from caliper.cli.benchmarks import benchmark_commands
from caliper.cli.console import OUT, write_json
from caliper.cli.exits import Exit
from caliper.cli.options import OutputOptions
from caliper.cli.show import show_gaps, show_notes
from caliper.cli.tables import text_table
from caliper.local.config import RunConfig
from caliper.local.estimate import BenchmarkEstimate, estimate
from caliper.local.run import run_directory
from caliper.local.setup import prepare
from caliper.wiring.clock import SystemClock
from caliper.wiring.settings import access


def _plan(config: RunConfig, output: OutputOptions) -> int:
    run, directory, estimates = asyncio.run(_estimates(config, output))
    if output.json:
        values = {
            "run": run,
            "directory": directory,
            "benchmarks": [asdict(one) for one in estimates],
        }
        write_json(values)
        return Exit.DONE
    if output.quiet:
        return Exit.DONE
    OUT.print(f"run [bold]{run}[/bold] in {escape(directory)}", highlight=False, soft_wrap=True)
    OUT.print(_table(estimates))
    return Exit.DONE


async def _estimates(
    config: RunConfig, output: OutputOptions
) -> tuple[str, str, list[BenchmarkEstimate]]:
    async with prepare(
        config, access(config.concurrency, config.named_specs), SystemClock()
    ) as prepared:
        show_gaps(config, prepared.spec, output)
        show_notes(prepared.notes, output)
        directory = run_directory(prepared).path
        estimates = [one async for one in estimate(prepared)]
        return prepared.spec.run_id, str(directory), estimates


def _table(estimates: list[BenchmarkEstimate]) -> Table:
    counts = ("samples", "questions", "captions to write", "calls", "for anchors")
    sizes = ("prompt tokens", "output tokens at most", "storage")
    table = text_table(["benchmark"], (*counts, *sizes))
    for one in estimates:
        table.add_row(
            one.benchmark,
            f"{one.samples:,}",
            f"{one.questions:,}",
            f"{one.captions_to_write:,}",
            f"{one.calls:,}",
            f"{one.anchors:,}",
            f"~{one.prompt_tokens:,}",
            f"{one.output_tokens:,}",
            f"~{decimal(one.storage_bytes)}",
        )
    return table


app = benchmark_commands(
    _plan,
    OutputOptions,
    "Estimate what a run would take: samples, questions, calls, tokens, storage.",
    media=False,
)
