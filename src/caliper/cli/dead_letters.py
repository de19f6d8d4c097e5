"""`caliper dead-letters`: lists, shows and replays jobs that failed for good."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.markup import escape

from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.cli.audit_lines import audit_line
from caliper.cli.console import OUT, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.installation_setup import Kafka, brokers
from caliper.cli.tables import text_table
from caliper.core.dead_letters import Letter
from caliper.core.envelopes import bytes_of
from caliper.core.errors import InvalidInput
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.lazy import lazy_module
from caliper.pipeline.gateway.dead_letters import (
    LetterFilter,
    StoredLetter,
    find_letters,
    read_job,
    replay,
)
from caliper.ports.stream import JobStream, LogReader

if TYPE_CHECKING:
    from caliper.adapters.streams import kafka as streams
    from caliper.adapters.streams import kafka_log
else:
    streams = lazy_module("caliper.adapters.streams.kafka")
    kafka_log = lazy_module("caliper.adapters.streams.kafka_log")

_LETTER_HELP = "Name of a dead letter, as `list` prints it: partition-offset."
Named = Annotated[str, typer.Argument(metavar="LETTER", help=_LETTER_HELP)]
SomeNamed = Annotated[list[str] | None, typer.Argument(metavar="[LETTER]...", help=_LETTER_HELP)]
Run = Annotated[str, typer.Option("--run", metavar="RUN", help="Only letters of this run.")]
Error = Annotated[
    str,
    typer.Option(
        "--error",
        metavar="CLASS",
        help="Only this class of error, such as BackendTimeout.",
    ),
]
All = Annotated[bool, typer.Option("--all", help="All letters not replayed yet.")]
_Result = TypeVar("_Result")

app = typer.Typer(
    help="Jobs that failed for good: list, explain and retry them.", no_args_is_help=True
)


@app.command("list")
def list_letters(kafka: Kafka, run: Run = "", error: Error = "", json: Json = False) -> int:
    """List the dead letters of the topic, oldest first.

    Each with its run, its job's topic, partition and offset, attempts, error, and whether it was
    replayed.
    """
    letter_filter = LetterFilter(run=run, error=error)
    letters = asyncio.run(_with_kafka(kafka, lambda logs, _: find_letters(logs, letter_filter)))
    if json:
        write_json([_as_json(stored) for stored in letters])
        return Exit.DONE
    if not letters:
        OUT.print("No dead letters.")
        return Exit.DONE
    table = text_table(("letter", "failed (UTC)", "run", "from", "attempts", "replayed", "error"))
    for stored in letters:
        values = _as_json(stored)
        names = ("letter", "time", "run", "from", "attempts")
        cells = [escape(str(values[name])) for name in names]
        error_cell = escape(stored.letter.error)
        table.add_row(*cells, "yes" if stored.replayed else "no", error_cell)
    OUT.print(table)
    return Exit.DONE


@app.command("show")
def show(letter: Named, kafka: Kafka, json: Json = False) -> int:
    """Show a dead letter: its headers and its job."""
    letter_filter = LetterFilter(names=(letter,))
    (stored,) = asyncio.run(_with_kafka(kafka, lambda logs, _: find_letters(logs, letter_filter)))
    values = _as_json(stored) | {"job": _job(stored.letter)}
    if json:
        write_json(values)
        return Exit.DONE
    for name, value in (values | values["job"]).items():
        if name != "job":
            text = ", ".join(value) if isinstance(value, list) else str(value)
            OUT.print(f"[bold]{name}[/bold]  {escape(text)}", soft_wrap=True, highlight=False)
    return Exit.DONE


@app.command("replay")
def replay_letters(
    kafka: Kafka,
    letters: SomeNamed = None,
    every: All = False,
    run: Run = "",
    error: Error = "",
    json: Json = False,
) -> int:
    """Replay dead letters: put their jobs back on the topics they came from.

    Each job is replayed once, however often this runs. New verdicts replace Unscored ones, and
    the run's report is rewritten. Fix the cause first: a job that fails again becomes a new dead
    letter.
    """
    if not (letters or every or run or error):
        raise InvalidInput("name letters, or choose by --run, --error or --all")
    if every and (letters or run or error):
        raise InvalidInput("--all cannot be combined with letters, --run or --error")
    letter_filter = LetterFilter(tuple(letters or ()), run, error)

    async def replay_selection(
        logs: LogReader, stream: JobStream
    ) -> tuple[list[StoredLetter], list[StoredLetter]]:
        selection = await find_letters(logs, letter_filter)
        with audit_line("dead-letters replay") as record:
            record.object = " ".join(
                stored.letter.name for stored in selection if not stored.replayed
            )
            done = await replay(stream, selection)
        return done, [stored for stored in selection if stored.replayed]

    done, before = asyncio.run(_with_kafka(kafka, replay_selection))
    if json:
        names = {"replayed": done, "before": before}
        write_json({key: [stored.letter.name for stored in some] for key, some in names.items()})
    else:
        OUT.print(f"Replayed: {len(done)}; replayed before: {len(before)}", highlight=False)
    return Exit.DONE


async def _with_kafka(
    kafka: str, work: Callable[[LogReader, JobStream], Awaitable[_Result]]
) -> _Result:
    access = brokers(kafka)
    stream = streams.KafkaStream(access)
    try:
        return await work(kafka_log.KafkaLog(access), stream)
    finally:
        await stream.close()


def _as_json(stored: StoredLetter) -> dict[str, Any]:
    letter, headers = stored.letter, stored.letter.headers
    places = (letter.job.topic, headers.get("origin-partition"), headers.get("origin-offset"))
    time = datetime.fromtimestamp(letter.timestamp / 1000, UTC)
    return {
        "letter": letter.name,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "run": letter.run,
        "key": letter.job.key,
        "from": "/".join(str(place) for place in places if place is not None),
        "attempts": int(headers.get("attempts", 0)),
        "crashes": int(headers.get("crashes", 0)),
        "error_class": letter.error_class,
        "error": letter.error,
        "replayed": stored.replayed,
    }


def _job(letter: Letter) -> dict[str, Any]:
    """A description of a job; if it is unreadable, the reason."""
    about: dict[str, Any] = {"bytes": len(bytes_of(letter.job))}
    try:
        job = read_job(letter, ProtobufCodec())
    except InvalidInput as error:
        return about | {"unreadable": str(error)}
    if isinstance(job, CaptionJob | ExamineJob):
        about |= {
            "benchmark": job.benchmark,
            "sample": job.sample,
            "items": [item.key for item in job.items],
            "questions": sum(len(tuple(item.positions())) for item in job.items),
        }
    if isinstance(job, ExamineJob):
        about["caption"] = None if job.caption is None else job.caption.text
    return about
