"""`caliper serve`: all services in one process."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

import typer
import uvloop

from caliper.cli.console import ERR
from caliper.cli.exits import Exit
from caliper.cli.options import command_taking
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.gateway_options import GatewayOptions
from caliper.wiring.grounds import kafka_access, kafka_ground, memory_ground, open_store
from caliper.wiring.memory import collect_seldom, limit_arenas
from caliper.wiring.service_settings import (
    CaptionerSettings,
    GatewaySettings,
    JudgeSettings,
    QaReaderSettings,
)
from caliper.wiring.settings import read_settings
from caliper.wiring.startup import all_services, with_metrics
from caliper.wiring.startup import serve as serve_parts

Listen = Annotated[
    str, typer.Option("--listen", metavar="HOST:PORT", help="Address of the gateway.")
]
Store = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="DIR|URL",
        help="The store: a directory, or an S3 endpoint (CALIPER_STORE_BUCKET etc.).",
    ),
]
Kafka = Annotated[
    str | None,
    typer.Option(
        "--kafka",
        metavar="SERVERS",
        help="Brokers, instead of jobs in memory (CALIPER_KAFKA_SECURITY etc.).",
    ),
]
Judge = Annotated[
    str, typer.Option("--judge", metavar="SPEC", help="lexical, chat:URL or triton:...")
]
Reader = Annotated[
    str, typer.Option("--reader", metavar="SPEC", help="lexical, chat:URL or triton:...")
]
Captioner = Annotated[
    str | None,
    typer.Option("--captioner", metavar="SPEC", help="chat:URL or triton:...; none without it."),
]
Page = Annotated[
    str | None,
    typer.Option(
        "--page",
        metavar="HOST:PORT",
        help="Loopback address of web pages, without tokens; or CALIPER_GATEWAY_PAGE_ADDRESS.",
    ),
]
HELP = """Serve the gateway, judge, reader, captioner and aggregator from one process and port.

TLS, tokens, health port and metrics port are set by the environment, as for the gateway
(CALIPER_GATEWAY_...). To resume an unfinished run after a restart, start it again.
"""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of `serve`."""

    listen: Listen = "127.0.0.1:50051"
    page: Page = None
    store: Store = "caliper-store"
    kafka: Kafka = None
    judge: Judge = "lexical"
    reader: Reader = "lexical"
    captioner: Captioner = None

    def gateway(self) -> GatewaySettings:
        """The settings of the gateway, overridden by the options.

        Raises what `read_settings` raises.
        """
        overrides = {"listen": self.listen}
        if self.page is not None:
            overrides["page_address"] = self.page
        return read_settings(GatewaySettings, **overrides)


def serve(options: ServeOptions) -> int:
    """Run all services until SIGTERM or Ctrl-C."""
    limit_arenas()
    collect_seldom()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(options))
    return Exit.DONE


async def _serve(options: ServeOptions) -> None:
    settings = options.gateway()
    settings.configure_log()
    client = read_settings(ClientSettings, store=options.store)
    store = open_store(client)
    if options.kafka is None:
        ground = memory_ground(store)
    else:
        ground = kafka_ground(store, kafka_access(options.kafka, client, "--kafka"))
    ground = ground.with_reply_keys(settings.reply_keys())
    captioner_settings = None
    if options.captioner is not None:
        captioner_settings = read_settings(CaptionerSettings, model=options.captioner)
    parts = await all_services(
        ground,
        read_settings(JudgeSettings, model=options.judge),
        read_settings(QaReaderSettings, model=options.reader),
        captioner_settings,
        GatewayOptions.of(settings),
    )
    await serve_parts(
        settings.server(),
        with_metrics(parts, ground, settings),
        lambda address: ERR.print(f"Serving on {address}", highlight=False),
    )


command = command_taking(serve, ServeOptions, help_text=HELP)
