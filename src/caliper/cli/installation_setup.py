"""`caliper topics apply` and `caliper storage apply`: set up Kafka and the bucket."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from caliper.cli.audit_lines import audit_line
from caliper.cli.console import OUT, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.lazy import lazy_module
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.grounds import kafka_access, name_store_errors, store_access
from caliper.wiring.installation_users import store_users, stream_users
from caliper.wiring.settings import read_settings

if TYPE_CHECKING:
    from caliper.adapters.stores import bucket
    from caliper.adapters.stores import users as minio_users
    from caliper.adapters.streams import kafka_topics, kafka_users
    from caliper.adapters.streams.kafka_access import KafkaAccess
else:
    bucket = lazy_module("caliper.adapters.stores.bucket")
    minio_users = lazy_module("caliper.adapters.stores.users")
    kafka_topics = lazy_module("caliper.adapters.streams.kafka_topics")
    kafka_users = lazy_module("caliper.adapters.streams.kafka_users")

Kafka = Annotated[
    str,
    typer.Option(
        "--kafka",
        metavar="SERVERS",
        help="Brokers: host:port, separated by commas (CALIPER_KAFKA_SECURITY etc.).",
    ),
]
Partitions = Annotated[
    int,
    typer.Option(
        "--partitions",
        min=1,
        max=1000,
        help="Partitions of job topics: most workers per stage. Can only grow.",
    ),
]
Replication = Annotated[
    int | None,
    typer.Option(
        "--replication",
        min=1,
        max=100,
        help="Replicas of new topics. Default: the brokers' own.",
    ),
]
Store = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        help="The S3 endpoint (CALIPER_STORE_BUCKET etc.).",
    ),
]
# Text: a setting that is empty is as not given.
Users = Annotated[
    str,
    typer.Option(
        "--users",
        metavar="FOLDER",
        help="A user per service, too, from this folder of Secrets.",
    ),
]
Checkpoints = Annotated[
    str,
    typer.Option(
        "--checkpoints",
        metavar="BUCKET/PREFIX",
        help="Where suites find checkpoints, for --users; several separated by commas.",
    ),
]

topics = typer.Typer(help="The Kafka topics of an installation.", no_args_is_help=True)
storage = typer.Typer(help="The bucket of an installation.", no_args_is_help=True)


# A group with one command would otherwise be that command.
@topics.callback()
@storage.callback()
def _group() -> None:
    pass


@topics.command("apply")
def apply_topics(
    kafka: Kafka,
    partitions: Partitions = 12,
    replication: Replication = None,
    users: Users = "",
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Create the topics, or correct their partitions and settings.

    Prints the changes; a second call makes none. Other topics stay, and no partition is removed.
    """
    access = brokers(kafka)
    copies = -1 if replication is None else replication
    known = stream_users(Path(users)) if users else []
    with audit_line("topics apply", kafka) as record:
        changes = kafka_topics.apply_topics(access, partitions=partitions, replication=copies)
        if known:
            changes += kafka_users.apply_stream_users(access, known)
        record.object = "; ".join(changes)
    return _show(changes, json=json, quiet=quiet)


@storage.command("apply")
def apply_storage(
    store: Store,
    users: Users = "",
    checkpoints: Checkpoints = "",
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Create the bucket, or correct its lifecycle rules.

    Prints the changes; a second call makes none. Only aggregators' snapshots expire, 14 days
    after the last; runs, replies and other rules stay.
    """
    settings = read_settings(ClientSettings, store=store)
    places = tuple(filter(None, checkpoints.split(",")))
    known = store_users(Path(users), settings.store_bucket, places) if users else []
    with name_store_errors(settings, "--store"):
        access = store_access(settings)
        with audit_line("storage apply", settings.store_bucket) as record:
            changes = bucket.apply_storage(access)
            if known:
                changes += minio_users.apply_store_users(access, known)
            record.object = "; ".join(changes)
    return _show(changes, json=json, quiet=quiet)


def brokers(servers: str) -> KafkaAccess:
    """The brokers that --kafka names. Raises InvalidInput as `kafka_access` does.

    Also silences Kafka's client, which logs every refused connection: the error that we raise
    says so once.
    """
    access = kafka_access(servers, read_settings(ClientSettings), "--kafka")
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    return access


def _show(changes: list[str], *, json: bool, quiet: bool) -> int:
    if json:
        write_json({"changes": changes})
    elif not quiet:
        for line in changes or ["Nothing to change."]:
            OUT.print(escape(line), soft_wrap=True, highlight=False)
    return Exit.DONE
