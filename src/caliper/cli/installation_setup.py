"""`caliper topics apply` and `caliper storage apply`: set up Kafka and the bucket."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from caliper.cli.audit_lines import audit_line
from caliper.cli.console import OUT, write_json
from caliper.cli.exits import Exit
from caliper.cli.options import OutputOptions, command_taking
from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.grounds import kafka_access
from caliper.wiring.installation_users import store_policies, store_users, stream_users
from caliper.wiring.settings import read_settings
from caliper.wiring.store_access import name_store_errors, store_access

if TYPE_CHECKING:
    from caliper.adapters.stores import bucket
    from caliper.adapters.stores import users as minio_users
    from caliper.adapters.streams import kafka_certificates, kafka_topics, kafka_users
    from caliper.adapters.streams.kafka_access import KafkaAccess
else:
    bucket = lazy_module("caliper.adapters.stores.bucket")
    minio_users = lazy_module("caliper.adapters.stores.users")
    kafka_certificates = lazy_module("caliper.adapters.streams.kafka_certificates")
    kafka_topics = lazy_module("caliper.adapters.streams.kafka_topics")
    kafka_users = lazy_module("caliper.adapters.streams.kafka_users")

Kafka = Annotated[
    str,
    typer.Option(
        "--kafka",
        metavar="HOST:PORT,...",
        help="Brokers (CALIPER_KAFKA_SECURITY etc.).",
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
# Text, as an empty setting counts as unset.
Users = Annotated[
    str,
    typer.Option(
        "--users",
        metavar="FOLDER",
        help="Create a user per service, from this folder of Secrets.",
    ),
]
Removed = Annotated[
    str,
    typer.Option(
        "--remove",
        metavar="NAME,...",
        help="Remove users that --users replaced.",
    ),
]
Checkpoints = Annotated[
    str,
    typer.Option(
        "--checkpoints",
        metavar="BUCKET/PREFIX,...",
        help="Where suites find checkpoints.",
    ),
]

topics = typer.Typer(help="The Kafka topics of an installation.", no_args_is_help=True)
storage = typer.Typer(help="The bucket of an installation.", no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """The topics to apply, and their users."""

    kafka: Kafka
    partitions: Partitions = 12
    replication: Replication = None
    users: Users = ""
    remove: Removed = ""


@dataclass(frozen=True, slots=True)
class StorageOptions:
    """The bucket to apply, and its users."""

    store: Store
    users: Users = ""
    remove: Removed = ""
    checkpoints: Checkpoints = ""


# A group with one command would otherwise be that command.
@topics.callback()
@storage.callback()
def _group() -> None:
    pass


def apply_topics(options: TopicOptions, output: OutputOptions) -> int:
    """Apply topics and users of the brokers."""
    access = brokers(options.kafka)
    copies = -1 if options.replication is None else options.replication
    users = stream_users(Path(options.users)) if options.users else []
    old = _replaced(options.remove, [user.name for user in users])
    with audit_line("topics apply", options.kafka) as record:
        changes = kafka_topics.apply_topics(
            access, partitions=options.partitions, replication=copies
        )
        if users:
            changes += kafka_users.apply_stream_users(access, users)
        if old:
            changes += kafka_users.remove_stream_users(access, old)
        record.object = "; ".join(changes)
    if access.security.tls is not None:
        kafka_certificates.reload_certificates(access)
    return _show(changes, output)


def apply_storage(options: StorageOptions, output: OutputOptions) -> int:
    """Apply the bucket and users of the store."""
    settings = read_settings(ClientSettings, store=options.store)
    places = _places(options.checkpoints)
    folder, bucket_name = options.users, settings.store_bucket
    users = store_users(Path(folder), bucket_name, places) if folder else []
    old = _replaced(options.remove, [user.access_key for user in users])
    with name_store_errors(settings, "--store"):
        access = store_access(settings)
        with audit_line("storage apply", bucket_name) as record:
            changes = bucket.apply_storage(access)
            if users:
                changes += minio_users.apply_store_users(access, users)
            if old:
                changes += minio_users.remove_store_users(access, old)
            record.object = "; ".join(changes)
    return _show(changes, output)


_TOPICS = """Create the topics, or correct their partitions and settings.

Prints the changes; a second call makes none. Other topics stay, and no partition is removed. Over
TLS, brokers reread certificates.
"""
_STORAGE = """Create the bucket, or correct its lifecycle rules.

Prints the changes; a second call makes none. Only snapshots of the aggregator expire, 14 days
after the last one; runs and replies stay. Other rules of the bucket are kept.
"""
topics.command("apply", help=_TOPICS)(command_taking(apply_topics, TopicOptions, OutputOptions))
storage.command("apply", help=_STORAGE)(
    command_taking(apply_storage, StorageOptions, OutputOptions)
)


def _replaced(remove: str, users: Sequence[str]) -> list[str]:
    """The users to remove. Raises InvalidInput for one that a Secret names."""
    names = list(filter(None, remove.split(",")))
    if names and not users:
        raise InvalidInput("needs --users with their replacements", field="--remove")
    for name in names:
        if name in users:
            raise InvalidInput(f"{name} is still a user of --users", field="--remove")
    return names


@storage.command("policies")
def show_policies(checkpoints: Checkpoints = "") -> int:
    """Print the policy of each service in the bucket CALIPER_STORE_BUCKET, as JSON.

    For stores other than MinIO, whose users or roles are created by hand. MinIO gets them from
    `caliper storage apply --users`.
    """
    bucket_name = read_settings(ClientSettings).store_bucket
    write_json(store_policies(bucket_name, _places(checkpoints)))
    return Exit.DONE


def _places(checkpoints: str) -> tuple[str, ...]:
    return tuple(filter(None, checkpoints.split(",")))


def brokers(servers: str) -> KafkaAccess:
    """The brokers that --kafka names. Raises InvalidInput as `kafka_access` does.

    Also silences Kafka's client, which logs every refused connection: the error that we raise
    says so once.
    """
    access = kafka_access(servers, read_settings(ClientSettings), "--kafka")
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    return access


def _show(changes: list[str], output: OutputOptions) -> int:
    if output.json:
        write_json({"changes": changes})
    elif not output.quiet:
        for line in changes or ["Nothing to change."]:
            OUT.print(escape(line), soft_wrap=True, highlight=False)
    return Exit.DONE
