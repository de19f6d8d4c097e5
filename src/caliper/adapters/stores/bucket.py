"""The bucket of an installation: its creation, and after how many days its objects expire."""

from __future__ import annotations

import re
from collections.abc import Mapping

from minio import Minio
from minio.commonconfig import ENABLED, Filter
from minio.error import S3Error
from minio.lifecycleconfig import Expiration, LifecycleConfig, Rule

from caliper.adapters.stores.access import StoreAccess
from caliper.adapters.stores.s3_errors import translate_errors
from caliper.core.errors import InvalidInput

_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
# Days until objects under a prefix expire: snapshots serve while topics reach back to them.
EXPIRE = {"aggregator/": 14}


def apply_storage(access: StoreAccess, expire: Mapping[str, int] = EXPIRE) -> list[str]:
    """Create the bucket and update its lifecycle rules. Returns one line per change, and one that
    says what is to be done by hand with a store that has no such rules.

    `expire`: days until objects under a prefix expire; other rules are preserved. Blocks. Raises
    StoreUnavailable, InvalidInput if other rules cannot be preserved, and InvalidInput with the
    field `url` or `bucket` if that is invalid.
    """
    if not _BUCKET.fullmatch(access.bucket):
        message = (
            f"{access.bucket!r:.80} cannot name a bucket; expected 3 to 63 lower-case letters, "
            "digits, dots and hyphens, a letter or digit first and last"
        )
        raise InvalidInput(message, field="bucket")
    with access.connections() as pool:
        client = access.client(pool)
        return translate_errors(lambda: _apply(client, access.bucket, expire), access.bucket)


def _apply(client: Minio, bucket: str, expire: Mapping[str, int]) -> list[str]:
    lines = []
    if not client.bucket_exists(bucket):
        client.make_bucket(bucket)
        lines.append(f"created bucket {bucket}")
    try:
        return lines + _expire(client, bucket, expire)
    except S3Error as error:
        if error.code != "NotImplemented":
            raise
    by_hand = f"the store has no lifecycle rules; delete old objects yourself: {_days_of(expire)}"
    return [*lines, by_hand]


def _expire(client: Minio, bucket: str, expire: Mapping[str, int]) -> list[str]:
    try:
        config = client.get_bucket_lifecycle(bucket)
    except ValueError as error:
        raise _foreign_rules_error(bucket, expire) from error
    ours: list[Rule] = []
    others: list[Rule] = []
    for rule in config.rules if config else ():
        (ours if _prefix(rule) in expire and rule.expiration else others).append(rule)
    current = {_prefix(rule): _days(rule) for rule in ours}
    if current != dict(expire) or len(current) != len(ours):
        rules = [
            Rule(
                ENABLED,
                rule_filter=Filter(prefix=prefix),
                rule_id=prefix.strip("/"),
                expiration=Expiration(days=days),
            )
            for prefix, days in expire.items()
        ]
        # Setting rules replaces all of them. The client would drop parts of rules in these forms,
        # so that they would match more objects than before.
        if any(rule.rule_filter is None or rule.rule_filter.and_operator for rule in others):
            raise _foreign_rules_error(bucket, expire)
        client.set_bucket_lifecycle(bucket, LifecycleConfig([*others, *rules]))
        return [f"{prefix} expires after {days} days" for prefix, days in expire.items()]
    return []


def _foreign_rules_error(bucket: str, expire: Mapping[str, int]) -> InvalidInput:
    return InvalidInput(
        f"bucket {bucket} has lifecycle rules of a form that would be lost; nothing was changed. "
        f"Add a rule of your own to expire {_days_of(expire)}"
    )


def _days_of(expire: Mapping[str, int]) -> str:
    return ", ".join(f"{prefix} after {days} days" for prefix, days in expire.items())


def _prefix(rule: Rule) -> str | None:
    """The prefix in a rule's filter, if any."""
    return rule.rule_filter.prefix if rule.rule_filter else None


def _days(rule: Rule) -> int | None:
    """The days until objects expire; None if the rule does not expire them."""
    return rule.expiration.days if rule.expiration and rule.status == ENABLED else None
