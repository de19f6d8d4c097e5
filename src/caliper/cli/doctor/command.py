"""`caliper doctor`: checks everything that a run needs."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from caliper.cli import flags
from caliper.cli.console import ERR, OUT, write_json, write_reason
from caliper.cli.doctor.examination import READER, DoctorTargets, checks, examine
from caliper.cli.doctor.findings import ComponentState, Diagnosis
from caliper.cli.doctor.models import CAPTIONER, ENDPOINT, IN_FLIGHT, JUDGE
from caliper.cli.exits import Exit
from caliper.cli.installation import InstalledServer, InstalledStore
from caliper.cli.options import OutputOptions, command_taking
from caliper.local.config import read_config
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.clock import SystemClock
from caliper.wiring.grounds import kafka_access
from caliper.wiring.models import Access, ModelRoom
from caliper.wiring.settings import access, read_settings

HELP = """Check everything that a run needs, one line each, with advice.

Without arguments: the disk, the media libraries, and the store named by
CALIPER_STORE. With a SPEC, --judge, --reader or --captioner also the
model: can it be reached, which model is it, how long does a reply take,
does it repeat itself at temperature 0, follow schemas, see pictures; and which
token each endpoint gets.
--config checks everything that a run.yaml names.

Models get a few short questions, a store one small object under
health/doctor; nothing else is changed. Secrets are never printed.

Exit code 0: no problem, at most notes; 1: a problem was found; 2: bad
input.
"""

Specs = Annotated[
    list[str] | None,
    typer.Argument(metavar="SPEC", help="Models to check: chat:URL\\[#model\\[@revision]]."),
]
Kafka = Annotated[
    str | None,
    typer.Option("--kafka", metavar="HOST:PORT,...", help="Bootstrap servers."),
]
Out = Annotated[Path, typer.Option("--out", help="The folder for run directories.")]
Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, max=3600, help="Time limit per call, in seconds.")
]
Rate = Annotated[
    bool,
    typer.Option(
        "--rate",
        help="Also measure calls per second at "
        f"{', '.join(map(str, IN_FLIGHT[:-1]))} and {IN_FLIGHT[-1]} calls at once: "
        "some 150 short calls per model.",
    ),
]
Tagger = Annotated[str, typer.Option("--tagger", help="rules or spacy:MODEL.")]
Embedder = Annotated[str, typer.Option("--embedder", help="ngram, minilm or minilm:DIR.")]
_CALLS = 8
"""The largest number of sequential calls in the check of a model, without --rate."""


@dataclass(frozen=True, slots=True)
class DoctorOptions:
    """The components to check."""

    specs: Specs = None
    judge: flags.Judge = None
    reader: flags.Reader = None
    captioner: Annotated[
        str | None,
        typer.Option(
            "--captioner", metavar="SPEC", help="A checkpoint: chat:URL\\[#model\\[@revision]]."
        ),
    ] = None
    tagger: Tagger = "rules"
    embedder: Embedder = "ngram"
    kafka: Kafka = None
    store: InstalledStore = None
    server: InstalledServer = None
    out: Out = Path()
    config: flags.ConfigFile = None
    timeout: Timeout = 30.0
    rate: Rate = False

    @property
    def named_specs(self) -> tuple[str | None, ...]:
        """The SPECs of the command line, not of a file."""
        return (*(self.specs or ()), self.captioner, self.judge, self.reader, self.embedder)


def _doctor(options: DoctorOptions, output: OutputOptions) -> int:
    client = read_settings(ClientSettings)
    reach = access(max(IN_FLIGHT), options.named_specs)
    model_access = replace(reach, timeout=options.timeout, retry_budget=0.0)
    findings = asyncio.run(
        _examine(_targets(options, client), model_access, _secrets(model_access, client), output)
    )
    if output.json:
        values = {
            "ok": all(finding.state is not ComponentState.PROBLEM for finding in findings),
            "components": [asdict(finding) for finding in findings],
        }
        write_json(values)
    elif not output.quiet:
        _show(findings)
    problems = [finding for finding in findings if finding.state is ComponentState.PROBLEM]
    for finding in problems if output.quiet and not output.json else ():
        write_reason(f"{finding.component}: {finding.message}")
    return Exit.NO if problems else Exit.DONE


def _targets(options: DoctorOptions, client: ClientSettings) -> DoctorTargets:
    targets = DoctorTargets(folder=options.out, rate=options.rate)
    if options.config is not None:
        targets.add_run(read_config(options.config))
    for spec in options.specs or ():
        targets.add_model(ENDPOINT, spec)
    targets.add_model(CAPTIONER, options.captioner)
    targets.add_model(JUDGE, options.judge)
    targets.add_model(READER, options.reader)
    targets.add_extra("tagger", options.tagger)
    targets.add_extra("embedder", options.embedder)
    if options.kafka is not None:
        kafka = kafka_access(options.kafka, client, "--kafka")
        targets.kafka = replace(kafka, patience=options.timeout)
    if options.store or client.store:
        targets.store = client.model_copy(update={"store": options.store or client.store})
    if options.server is not None:
        targets.gateway = client.gateway(options.server)
    return targets


def _secrets(model_access: Access, client: ClientSettings) -> list[str]:
    secrets = (
        *model_access.tokens.secrets,
        client.server_token,
        client.store_access_key,
        client.store_secret_key,
        client.store_session_token,
        client.kafka_password,
    )
    return [secret.get_secret_value() for secret in secrets if secret is not None]


async def _examine(
    targets: DoctorTargets, model_access: Access, secrets: Sequence[str], output: OutputOptions
) -> list[Diagnosis]:
    # Findings report lost connections; the libraries' own logs would repeat them.
    for library in ("urllib3", "kafka"):
        logging.getLogger(library).setLevel(logging.CRITICAL)
    clock = SystemClock()
    room = ModelRoom(model_access, clock)
    looks = checks(targets, room, clock)
    remaining = [name for name, _ in looks]
    factor = 1 + 20 * targets.rate
    status = ERR.status("")

    def update(finding: Diagnosis | None = None) -> None:
        if finding is not None:
            remaining.remove(finding.component)
        status.update(f"checking {', '.join(remaining)}")

    update()
    if sys.stderr.isatty() and not output.quiet:
        status.start()
    try:
        return await examine(looks, secrets, model_access.timeout * _CALLS * factor, update)
    finally:
        status.stop()
        await room.close()


def _show(findings: Sequence[Diagnosis]) -> None:
    width = max(len(finding.component) for finding in findings)
    for finding in findings:
        colour = _COLOURS[finding.state]
        state = f"[{colour}]{finding.state:<7}[/{colour}]"
        advice = f" [bold]->[/bold] {escape(finding.advice)}" if finding.advice else ""
        OUT.print(
            f"{state}  {finding.component:<{width}}  {escape(finding.message)}{advice}",
            soft_wrap=True,
            highlight=False,
        )


_COLOURS = {
    ComponentState.OK: "green",
    ComponentState.NOTE: "yellow",
    ComponentState.PROBLEM: "red",
}

command = command_taking(_doctor, DoctorOptions, OutputOptions, help_text=HELP)
