"""Users of a MinIO server, each with a policy that has its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from minio import MinioAdmin
from minio.error import MinioAdminException, S3Error

from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.s3_errors import translate_errors
from caliper.core.errors import StoreUnavailable

_BY_HAND = (
    "this needs MinIO and its administrator; elsewhere create users or roles by hand, with the "
    "policies from `caliper storage policies`, and omit --users"
)
_WRONG_KEYS = frozenset({"InvalidAccessKeyId", "SignatureDoesNotMatch"})


@dataclass(frozen=True, slots=True)
class StoreUser:
    """A user with its keys. `policy` is the MinIO policy that says what it may do."""

    access_key: str
    secret_key: str = field(repr=False)
    policy: Mapping[str, Any]


def apply_store_users(access: StoreAccess, users: Sequence[StoreUser]) -> list[str]:
    """Create the users, and correct their keys and policies. Returns one line per change.

    `access` is that of an administrator. Other users are left alone, and so are other policies
    that a user has. Blocks. Raises StoreUnavailable.
    """
    return _administered(access, lambda admin: _apply(admin, access, users))


def remove_store_users(access: StoreAccess, names: Sequence[str]) -> list[str]:
    """Remove users that a new generation replaced, with the policies of their names. Returns one
    line per change. Blocks. Raises StoreUnavailable.
    """
    return _administered(access, lambda admin: _remove(admin, names))


def _administered(access: StoreAccess, change: Callable[[MinioAdmin], list[str]]) -> list[str]:
    with access.connections() as pool:
        url = urlsplit(access.url)
        admin = MinioAdmin(
            endpoint=url.netloc,
            credentials=access.credentials(pool),
            region=access.signing_region(),
            secure=url.scheme == "https",
            http_client=pool,
        )
        try:
            return translate_errors(lambda: change(admin), access.bucket)
        except MinioAdminException as error:
            message = f"its users cannot be changed: {error!s:.300} ({_BY_HAND})"
            raise StoreUnavailable(message) from error


def _apply(admin: MinioAdmin, access: StoreAccess, users: Sequence[StoreUser]) -> list[str]:
    accounts = json.loads(admin.user_list()) or {}
    policies = json.loads(admin.policy_list())
    lines = []
    for user in users:
        name = user.access_key
        if name not in policies or _canonical(policies[name]) != _canonical(user.policy):
            admin.policy_add(name, policy=dict(user.policy))
            lines.append(f"wrote policy {name}")
        if name not in accounts:
            admin.user_add(name, user.secret_key)
            lines.append(f"created user {name}")
        elif not _lets_in(replace(access, access_key=name, secret_key=user.secret_key)):
            admin.user_add(name, user.secret_key)
            lines.append(f"replaced the secret key of user {name}")
        if name not in accounts.get(name, {}).get("policyName", "").split(","):
            _attach(admin, name)
    return lines


def _remove(admin: MinioAdmin, names: Sequence[str]) -> list[str]:
    accounts, policies = json.loads(admin.user_list()) or {}, json.loads(admin.policy_list())
    lines = []
    for name in names:
        if name in accounts:
            admin.user_remove(name)
            lines.append(f"removed user {name}")
        if name in policies:
            admin.policy_remove(name)
            lines.append(f"removed policy {name}")
    return lines


def _attach(admin: MinioAdmin, name: str) -> None:
    try:
        admin.attach_policy([name], user=name)
    except MinioAdminException as error:
        # Somebody else does the same at this moment.
        if "PolicyChangeAlreadyApplied" not in str(error):
            raise


def _lets_in(access: StoreAccess) -> bool:
    with access.connections() as pool:
        try:
            with closing(access.client(pool).get_object(access.bucket, "health")):
                return True
        except S3Error as error:
            return error.code not in _WRONG_KEYS


def _canonical(value: Any) -> Any:
    """A policy in a form that can be compared: the order of lists means nothing in it."""
    if isinstance(value, Mapping):
        return {key: _canonical(each) for key, each in value.items()}
    if isinstance(value, list):
        return sorted(map(_canonical, value), key=partial(json.dumps, sort_keys=True))
    return value
