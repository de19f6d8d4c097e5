"""Where requests of a store go, and for which region they are signed."""

import re
from collections.abc import Mapping
from dataclasses import replace
from socket import gaierror
from typing import Any

import pytest
from tests.fakes.http_answers import AnswerHandler, serving
from tests.servers.access import versity_access
from urllib3.connection import HTTPSConnection
from urllib3.exceptions import NameResolutionError

from caliper.adapters.stores.access import AddressStyle, StoreAccess
from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.minio import MinioStore
from caliper.adapters.stores.s3_errors import translate_errors
from caliper.adapters.stores.users import StoreUser, apply_store_users
from caliper.core.errors import InvalidInput, StoreUnavailable

FRANKFURT = "https://s3.eu-central-1.amazonaws.com"


def place(url: str, region: str = "", style: AddressStyle | None = None) -> tuple[str, str]:
    """The address of an object in the bucket `caliper`, and the region that it is signed for."""
    access = StoreAccess(url, "caliper", "key", "secret", region=region, style=style)
    with access.connections() as pool:
        signed = access.client(pool).presigned_get_object("caliper", "a/b")
    address, _, query = signed.partition("?")
    return address, query.split("%2F")[2]


@pytest.mark.parametrize(
    ("url", "region", "style", "address", "signed"),
    [
        (FRANKFURT, "", None, "caliper.s3.eu-central-1.amazonaws.com/a/b", "eu-central-1"),
        (FRANKFURT, "", "path", "s3.eu-central-1.amazonaws.com/caliper/a/b", "eu-central-1"),
        ("https://s3.amazonaws.com", "", None, "caliper.s3.us-east-1.amazonaws.com/a/b",
         "us-east-1"),
        ("https://s3.amazonaws.com", "us-west-2", None, "caliper.s3.us-west-2.amazonaws.com/a/b",
         "us-west-2"),
        ("https://s3.dualstack.ap-southeast-2.amazonaws.com", "", None,
         "caliper.s3.dualstack.ap-southeast-2.amazonaws.com/a/b", "ap-southeast-2"),
        ("https://s3.us-gov-west-1.amazonaws.com", "", None,
         "caliper.s3.us-gov-west-1.amazonaws.com/a/b", "us-gov-west-1"),
        ("https://s3.cn-north-1.amazonaws.com.cn", "", None,
         "caliper.s3.cn-north-1.amazonaws.com.cn/a/b", "cn-north-1"),
        ("https://s3.example.com", "", None, "s3.example.com/caliper/a/b", "us-east-1"),
        ("https://s3.example.com", "garage", "host", "caliper.s3.example.com/a/b", "garage"),
        ("http://minio:9000", "", None, "minio:9000/caliper/a/b", "us-east-1"),
    ],
)  # fmt: skip
def test_region_and_style_of_an_endpoint(
    url: str, region: str, style: AddressStyle | None, address: str, signed: str
) -> None:
    assert place(url, region, style) == (f"{url.partition('//')[0]}//{address}", signed)


@pytest.mark.parametrize(
    ("url", "bucket", "region", "style", "field", "told"),
    [
        (FRANKFURT, "caliper", "us-west-2", None, "region", "endpoint, which is in eu-central-1"),
        ("https://s3.example.com", "a.b", "", "host", "style", "covers a bucket with dots"),
        ("http://10.0.0.1:9000", "caliper", "", "host", "style", "a name, not an address"),
        ("http://[::1]:9000", "caliper", "", "host", "style", "a name, not an address"),
    ],
)
def test_what_contradicts_the_endpoint_is_refused(
    url: str, bucket: str, region: str, style: AddressStyle | None, field: str, told: str
) -> None:
    access = StoreAccess(url, bucket, "key", "secret", region=region, style=style)
    with access.connections() as pool, pytest.raises(InvalidInput, match=told) as refused:
        access.client(pool)
    assert refused.value.field == field


def test_the_token_of_a_session_goes_along_and_is_not_printed() -> None:
    heard = []

    class Store(AnswerHandler):
        def do_HEAD(self) -> None:  # noqa: N802 - as http.server names it
            heard.append(self.headers["x-amz-security-token"])
            self.answer(b"", 403)

    with serving(Store) as address:
        access = StoreAccess(
            f"http://{address}", "caliper", "key", "secret", session_token="of-one"
        )
        assert "of-one" not in repr(access)
        with pytest.raises(StoreUnavailable, match="AccessDenied"):
            apply_storage(access)
    assert heard == ["of-one"]


def test_users_of_a_store_that_is_no_minio_are_made_by_hand(versity: str) -> None:
    judge = StoreUser("judge", "a-secret-of-the-judge", {"Version": "2012-10-17", "Statement": []})
    with pytest.raises(StoreUnavailable, match="from `caliper storage policies`") as refused:
        apply_store_users(versity_access(versity), [judge])
    assert judge.secret_key not in str(refused.value)


def test_a_store_without_rules_says_what_to_delete(versity: str) -> None:
    access = versity_access(versity)
    by_hand = (
        "the store has no lifecycle rules; delete old objects yourself: aggregator/ after 14 days"
    )
    assert apply_storage(access) == [f"created bucket {access.bucket}", by_hand]
    assert apply_storage(access) == [by_hand]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"region": "us-east-1"}, "AuthorizationHeaderMalformed.*eu-central-1.*STORE_REGION"),
        ({"session_token": "old"}, "InvalidToken: .*STORE_SESSION_TOKEN"),
        ({"secret_key": "wrong"}, "SignatureDoesNotMatch"),
    ],
)
async def test_a_wrong_setting_is_named(versity: str, change: Mapping[str, Any], told: str) -> None:
    store = MinioStore(replace(versity_access(versity), **change))
    with pytest.raises(StoreUnavailable, match=told):
        await store.put("jobs/one", b"1")
    await store.close()


def test_a_host_that_no_name_server_knows_is_named() -> None:
    host = "caliper.s3.example.com"

    def call() -> None:
        raise NameResolutionError(host, HTTPSConnection(host), gaierror(-2, "not known"))

    with pytest.raises(StoreUnavailable, match=rf"does not answer \(no host {re.escape(host)}\)$"):
        translate_errors(call, "caliper")
