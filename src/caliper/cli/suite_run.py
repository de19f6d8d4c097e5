"""`caliper suite run`: the loop that evaluates every checkpoint, and sends notices."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caliper.cli.console import OUT, plain, write_out
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.options import command_taking
from caliper.cli.suite_events import events, suite_outbox
from caliper.cli.suite_sources import SourceOptions, open_receiver, open_sources
from caliper.cli.suites import app, applied, registry
from caliper.cli.warning_watcher import WarningWatcher
from caliper.core.entry_states import EntryState
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.suites import SuiteState
from caliper.local.coroutine_runner import run_interruptible
from caliper.local.notify import check_targets
from caliper.local.suite_runs import LocalEvaluator, check_tokens, suite_store
from caliper.pipeline.suites.latest import LatestScores
from caliper.pipeline.suites.loop import SuiteEvent, SuiteLoop
from caliper.pipeline.suites.source_leases import SourceLeases
from caliper.serving.metrics import suite_telemetry
from caliper.wiring.clock import SystemClock

Names = Annotated[list[str], typer.Argument(metavar="SUITE...", help="Names, or files to apply.")]
Metrics = Annotated[
    str,
    typer.Option("--metrics", metavar="HOST:PORT", help="Serve the latest scores to Prometheus."),
]

app.command("events")(events)


@dataclass(frozen=True, slots=True)
class SuiteRunOptions:
    """The arguments and options of `run`."""

    suites: Names
    metrics: Metrics = ""
    json: Json = False


def run(options: SuiteRunOptions, sources: SourceOptions) -> int:
    """Evaluate the checkpoints of suites until it is stopped; with --once, until all are done."""
    decided: set[EntryState] = set()
    printer = _Events(decided, json=options.json)
    run_interruptible(_run(options, sources, printer))
    return _code(decided)


_RUN_HELP = """Evaluate the checkpoints of suites, and print a line per event.

After an interruption, the same command resumes. Exit code with --once: 1 if one regressed or
failed, 3 if one is inconclusive, 4 if one waits for an endpoint or a budget.
"""
app.command("run")(command_taking(run, SuiteRunOptions, SourceOptions, help_text=_RUN_HELP))


async def _run(options: SuiteRunOptions, sources: SourceOptions, printer: _Events) -> None:
    names = []
    for each in options.suites:
        is_file = each.endswith((".yaml", ".yml"))
        record = (await applied(Path(each)))[0] if is_file else await registry().record(each)
        if record.state is SuiteState.RETIRED:
            raise InvalidInput("the suite is retired; resume it first", field=record.suite.name)
        check_targets(record.suite)
        check_tokens(record.suite)
        names.append(record.suite.name)
    watcher, names = WarningWatcher(), list(dict.fromkeys(names))
    async with (
        suite_outbox(sources.kafka) as outbox,
        suite_telemetry(options.metrics) as telemetry,
        AsyncExitStack() as stack,
    ):
        arrivals, loss_of, places = await open_sources(sources, watcher, stack)
        await open_receiver(sources, names, stack)
        latest = LatestScores(telemetry)
        await latest.read(registry(), names)

        def on_event(event: SuiteEvent) -> None:
            printer(event)
            outbox.wake()
            latest.on_event(event)

        store, clock = suite_store(), SystemClock()
        leases = SourceLeases(store, clock, places, watcher.on_warning)
        evaluator = LocalEvaluator(watcher, clock, loss_of)
        loop = SuiteLoop(store, clock, evaluator, on_event, arrivals, leases)
        await outbox.run_beside(names, loop.run(names, once=sources.once))


class _Events:
    """Prints events as they come, and notes the states that were reached."""

    def __init__(self, decided: set[EntryState], *, json: bool) -> None:
        self._decided, self._json = decided, json

    def __call__(self, event: SuiteEvent) -> None:
        entry = event.entry
        if entry is not None and event.event == entry.state:
            self._decided.add(entry.state)
        if self._json:
            fields = {"suite": event.suite, "event": event.event, "detail": event.detail}
            entry_json = None if entry is None else entry.to_json()
            write_out(canonical_json({**fields, "entry": entry_json}).decode() + "\n")
            return
        about = [event.suite, event.event]
        if entry is not None:
            step = entry.checkpoint.step
            about.insert(1, entry.checkpoint.label if step is None else f"step {step:,}")
        at = SystemClock().now()
        line = "  ".join((f"{at:%H:%M:%S} UTC", *about, *filter(None, (event.detail,))))
        OUT.print(plain(line), soft_wrap=True, highlight=False)
        OUT.file.flush()


def _code(states: set[EntryState]) -> Exit:
    if states & {EntryState.REGRESSED, EntryState.FAILED, EntryState.SOURCE_GONE}:
        return Exit.NO
    if EntryState.WAITING in states:
        return Exit.SURROUNDINGS
    return Exit.INCONCLUSIVE if EntryState.INCONCLUSIVE in states else Exit.DONE
