"""The users of an installation's store and brokers, from the Secrets that hold their keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.adapters.cluster import grants
from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module

if TYPE_CHECKING:
    from caliper.adapters.stores import users
    from caliper.adapters.streams import kafka_users
else:
    users = lazy_module("caliper.adapters.stores.users")
    kafka_users = lazy_module("caliper.adapters.streams.kafka_users")


def store_users(
    folder: Path, bucket: str, checkpoints: Sequence[str] = ()
) -> list[users.StoreUser]:
    """The users of the store, from a folder of Secrets. `checkpoints` are the places of checkpoints
    of suites: BUCKET/PREFIX. Raises InvalidInput naming a file that is missing or empty.
    """
    accounts = []
    for name in grants.STORE_GRANTS:
        secret = folder / grants.store_secret(name)
        keys = _read(secret / "access-key"), _read(secret / "secret-key")
        policy = grants.store_policy(name, bucket, checkpoints)
        accounts.append(users.StoreUser(*keys, policy))
    return accounts


def store_policies(bucket: str, checkpoints: Sequence[str] = ()) -> dict[str, Any]:
    """By service, the policy that a user or role of a store other than MinIO needs."""
    return {name: grants.iam_policy(name, bucket, checkpoints) for name in grants.STORE_GRANTS}


def stream_users(folder: Path) -> list[kafka_users.StreamUser]:
    """The users of the brokers, from a folder of Secrets. Raises as `store_users` does."""
    accounts = []
    for name, grant in grants.STREAM_GRANTS.items():
        secret = folder / grants.stream_secret(name)
        credentials = _read(secret / "user"), _read(secret / "password")
        accounts.append(kafka_users.StreamUser(*credentials, grant.permits()))
    return accounts


def _read(file: Path) -> str:
    try:
        text = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the secret: {error}", file=str(file)) from error
    if not text:
        raise InvalidInput("the file holds no secret", file=str(file))
    return text
