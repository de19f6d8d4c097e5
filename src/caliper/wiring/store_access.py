"""Access to an S3 endpoint, from settings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import SecretStr

from caliper.core.errors import InvalidInput
from caliper.lazy import lazy_module
from caliper.wiring.settings import variable

if TYPE_CHECKING:
    from caliper.adapters.stores import access, workload_identity
    from caliper.wiring.service_settings import StoreSettings
else:
    access = lazy_module("caliper.adapters.stores.access")
    workload_identity = lazy_module("caliper.adapters.stores.workload_identity")

_TOKEN_FILE = "AWS_WEB_IDENTITY_TOKEN_FILE"  # noqa: S105 - the name of a variable
_LENDERS = (
    _TOKEN_FILE,
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
)
"""Variables that a cluster sets in pods whose service account gets keys on loan."""


@contextmanager
def name_store_errors(settings: StoreSettings, url: str) -> Iterator[None]:
    """Make errors about the store's URL, bucket name, region or style name their source: `url`, or
    the variable.
    """
    fields = {name: variable(type(settings), f"store_{name}") for name in _NAMED}
    fields["url"] = url
    try:
        yield
    except InvalidInput as error:
        if error.field not in fields:
            raise
        raise InvalidInput(error.message, field=fields[error.field]) from error


_NAMED = ("bucket", "region", "style")


def store_access(settings: StoreSettings) -> access.StoreAccess:
    """How to reach the S3 endpoint of the settings.

    Raises InvalidInput naming the missing or wrong variable.
    """
    if settings.store_ca is not None and settings.store.startswith("http://"):
        field = variable(type(settings), "store_ca")
        message = f"has no effect for {settings.store}, which is not encrypted"
        raise InvalidInput(message, file="environment", field=field)
    identity = None
    keys = {"access_key": settings.store_access_key, "secret_key": settings.store_secret_key}
    if not any(keys.values()) and settings.store_session_token is None:
        identity = _identity(settings)
    for name, key in keys.items():
        if key is None and identity is None:
            field = variable(type(settings), f"store_{name}")
            message = "needed for an S3 endpoint, unless a workload identity lends keys"
            raise InvalidInput(message, file="environment", field=field)
    return access.StoreAccess(
        settings.store,
        settings.store_bucket,
        _plain(settings.store_access_key),
        _plain(settings.store_secret_key),
        ca=settings.store_ca,
        session_token=_plain(settings.store_session_token),
        identity=identity,
        region=settings.store_region,
        style=settings.store_style,
    )


def _plain(secret: SecretStr | None) -> str:
    return "" if secret is None else secret.get_secret_value()


def _identity(settings: StoreSettings) -> workload_identity.WorkloadIdentity | None:
    if not any(map(os.environ.get, _LENDERS)):
        return None
    sts = os.environ.get("AWS_ENDPOINT_URL_STS", "") if os.environ.get(_TOKEN_FILE) else ""
    return workload_identity.WorkloadIdentity(sts, settings.store_region)
