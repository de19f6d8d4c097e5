"""The users of services on a MinIO server: the same for all tests."""

from __future__ import annotations

from tests.servers.access import access_to

from caliper.adapters.cluster.grants import STORE_GRANTS, store_policy
from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.users import StoreUser, apply_store_users

USERS = {
    name: StoreUser(
        f"tests-{name}",
        f"known-to-{name}",
        store_policy(name, "caliper-????????*", ["models-*"]),
    )
    for name in STORE_GRANTS
}
"""Each may use every bucket of the name that `separate.grounded` gives."""
KEYS_AND_POLICIES = [(each.access_key, each.secret_key, each.policy) for each in USERS.values()]


def apply(url: str, bucket: str) -> list[str]:
    """Make a bucket, and the users where they are not there yet: a line for each. Blocks."""
    access = access_to(url, bucket)
    apply_storage(access)
    return apply_store_users(access, list(USERS.values()))
