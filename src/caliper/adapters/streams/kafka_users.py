"""Users of Kafka's brokers: their SCRAM passwords, and the ACLs that say what they may do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka.errors import KafkaError

from caliper.adapters.streams.kafka_access import KafkaAccess, unavailable
from caliper.adapters.streams.kafka_security import KafkaSasl
from caliper.core.errors import InvalidInput, StreamUnavailable


@dataclass(frozen=True, slots=True)
class StreamUser:
    """A user of the brokers. `permits` are what it may do: `topic` or `group`, its name without a
    prefix, and the operation as Kafka calls it.
    """

    name: str
    password: str = field(repr=False)
    permits: frozenset[tuple[str, str, str]]


def apply_stream_users(access: KafkaAccess, users: Sequence[StreamUser]) -> list[str]:
    """Create the users, and correct their passwords and ACLs. Returns one line per change.

    `access` is that of an administrator. Permissions beyond the topics and groups of all these
    users are left alone. Blocks. Raises InvalidInput if it does not log in by SCRAM,
    StreamUnavailable.
    """
    sasl = access.security.sasl
    if sasl is None or not sasl.mechanism.startswith("SCRAM"):
        raise InvalidInput("users can only be created with SCRAM", field="kafka_mechanism")
    try:
        with closing(access.admin()) as admin:
            return [
                *_set_passwords(admin, access, sasl.mechanism, users),
                *_set_permits(admin, access, users),
            ]
    except KafkaError as error:
        raise unavailable("the users could not be applied", error) from error


def remove_stream_users(access: KafkaAccess, names: Sequence[str]) -> list[str]:
    """Take the passwords and ACLs of users that a new generation replaced. Returns one line per
    change. Blocks. Raises StreamUnavailable.
    """
    try:
        with closing(access.admin()) as admin:
            credentials = admin.describe_user_scram_credentials()
            passwords = [
                UserScramCredentialDeletion(name, each["mechanism"])
                for name in names
                for each in credentials.get(name, {}).get("credential_infos", ())
            ]
            if passwords:
                admin.alter_user_scram_credentials(passwords)
            permits = _remove_permits(admin, names)
    except KafkaError as error:
        raise unavailable("the users could not be removed", error) from error
    gone = permits | {each.user for each in passwords}
    return [f"removed user {name}" for name in names if name in gone]


def _remove_permits(admin: Any, names: Sequence[str]) -> set[str]:
    """Remove the ACLs of users; returns those that had some."""
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    every = (None, ACLOperation.ANY, ACLPermissionType.ANY, anything)
    filters = [ACLFilter(f"User:{name}", *every) for name in names]
    answers = admin.delete_acls(filters)
    for *_, error in answers:
        if error.errno:
            raise error
    return {name for name, (_, acls, _) in zip(names, answers, strict=True) if acls}


def _set_passwords(
    admin: Any, access: KafkaAccess, mechanism: str, users: Sequence[StreamUser]
) -> list[str]:
    wrong = [user for user in users if not _lets_in(access, mechanism, user)]
    if wrong:
        answers = admin.alter_user_scram_credentials(
            [UserScramCredentialUpsertion(user.name, mechanism, user.password) for user in wrong]
        )
        for name, refusal in answers.items():
            if refusal is not None:
                raise StreamUnavailable(f"Kafka: the password of {name}: {refusal}")
    return [f"set the password of user {user.name}" for user in wrong]


def _lets_in(access: KafkaAccess, mechanism: str, user: StreamUser) -> bool:
    sasl = KafkaSasl(mechanism, user.name, user.password)
    try:
        # Nobody can read which password is set.
        with closing(replace(access, security=replace(access.security, sasl=sasl)).admin()):
            return True
    except KafkaError:
        return False


def _set_permits(admin: Any, access: KafkaAccess, users: Sequence[StreamUser]) -> list[str]:
    acls = {_acl(access, user.name, permit) for user in users for permit in user.permits}
    names = {acl.resource_pattern.resource_name for acl in acls}
    principals = {acl.principal for acl in acls}
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.LITERAL)
    every = ACLFilter(None, None, ACLOperation.ANY, ACLPermissionType.ALLOW, anything)
    present = {
        acl
        for acl in admin.describe_acls(every)[0]
        if acl.principal in principals and acl.resource_pattern.resource_name in names
    }
    missing, surplus = sorted(acls - present, key=repr), sorted(present - acls, key=repr)
    errors = []
    if missing:
        errors += admin.create_acls(missing)["failed"]
    if surplus:
        errors += [error for *_, error in admin.delete_acls(surplus) if error.errno]
    if errors:
        raise errors[0]
    return [
        *(_format(acl, "may") for acl in missing),
        *(_format(acl, "may no longer") for acl in surplus),
    ]


def _acl(access: KafkaAccess, user: str, permit: tuple[str, str, str]) -> ACL:
    resource, name, operation = permit
    pattern = ResourcePattern(ResourceType[resource.upper()], access.full_name(name))
    allow = ACLPermissionType.ALLOW
    return ACL(f"User:{user}", "*", ACLOperation[operation], allow, pattern)


def _format(acl: ACL, may: str) -> str:
    pattern = acl.resource_pattern
    user, resource = acl.principal.partition(":")[2], pattern.resource_type.name.lower()
    return f"{user}: {may} {acl.operation.name} {resource} {pattern.resource_name}"
