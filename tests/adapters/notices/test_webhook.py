"""Webhooks: what a receiver gets, and what is said of one that does not take it."""

import base64
import hashlib
import hmac
from collections.abc import Callable

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.notices import notice
from tests.fakes.receivers import HANG, SECRET, Receiver

from caliper.adapters.notices.bodies import event_body, slack_body
from caliper.adapters.notices.webhook import Webhook, signature
from caliper.core.checkpoints import EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.core.errors import (
    BackendError,
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
)
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice


def hook(
    url: str,
    secret: str | None = SECRET,
    body: Callable[[Notice], bytes] = event_body,
    seconds: float = 10.0,
) -> Webhook:
    given = None if secret is None else lambda: secret
    return Webhook(frozenset(NoticeKind), lambda: url, given, body, FakeClock(), seconds)


async def test_a_receiver_can_verify_what_it_gets() -> None:
    async with Receiver() as receiver:
        await hook(receiver.url).deliver(notice())
    (got,) = receiver.posted
    sent = got.headers["webhook-timestamp"]
    assert int(sent) == int(FakeClock().now().timestamp())
    content = f"{notice().id}.{sent}.".encode() + got.body
    expected = hmac.new(SECRET.encode(), content, hashlib.sha256).digest()
    assert got.headers["webhook-signature"] == f"v1,{base64.b64encode(expected).decode()}"
    assert got.headers["webhook-id"] == notice().id
    assert got.fields["type"] == "caliper.suite.regressed"
    data = got.fields["data"]
    assert (data["checkpoint"], data["step"], data["state"]) == ("step-7", 7, "regressed")
    assert data["figures"][0]["value"] == 41.25
    assert SECRET not in got.body.decode()


def test_a_secret_may_be_base64() -> None:
    encoded = "whsec_" + base64.b64encode(SECRET.encode()).decode()
    assert signature(encoded, "i", "1", b"{}") == signature(SECRET, "i", "1", b"{}")
    with pytest.raises(InvalidInput, match="not base64"):
        signature("whsec_?", "i", "1", b"{}")


@pytest.mark.parametrize(
    ("script", "error", "told"),
    [
        ([500], BackendRejected, "answered with status 500"),
        ([404], BackendRejected, "answered with status 404"),
        # A redirect is not followed: it could lead anywhere.
        ([302], BackendRejected, "answered with status 302"),
        ([HANG], BackendTimeout, "no answer in 0.2 s"),
    ],
)
async def test_what_a_receiver_does_not_take_is_an_error(
    script: list[int], error: type[BackendError], told: str
) -> None:
    async with Receiver(script) as receiver:
        seconds = 0.2 if HANG in script else 10.0
        with pytest.raises(error, match=told):
            await hook(receiver.url, seconds=seconds).deliver(notice())
    assert len(receiver.posted) == 1


async def test_an_error_does_not_tell_the_address() -> None:
    async with Receiver() as receiver:
        url = receiver.url
    with pytest.raises(BackendUnavailable) as caught:
        await hook(url + "/T0/B0/secret").deliver(notice())
    assert "secret" not in str(caught.value)
    for wrong in ("ftp://127.0.0.1/", "http://", "secret"):
        with pytest.raises((InvalidInput, BackendUnavailable)) as refused:
            await hook(wrong).deliver(notice())
        assert "secret" not in str(refused.value)


async def test_slack_gets_text_without_markup() -> None:
    async with Receiver() as receiver:
        await hook(receiver.url, None, slack_body).deliver(notice(name="<!channel> & co"))
    (got,) = receiver.posted
    first, second = got.fields["text"].split("\n")
    assert first == ("nightly: &lt;!channel&gt; &amp; co (step 7) regressed: capability 41.2")
    assert second == "capability average.f1 -2.00"
    assert "webhook-signature" not in got.headers


def test_a_failure_does_not_quote_what_it_read() -> None:
    told = notice(EntryCause.FAILURE, reason="400: the prompt 'A dog runs.' is too long")
    assert b"A dog" not in event_body(told) + slack_body(told)


def test_a_notice_is_bounded_and_ascii() -> None:
    figures = tuple(EntryFigure("capability", f"x.{n}", 1.0) for n in range(5_000))
    told = notice(name="n" * 10_000 + "\udc80", reason="r" * 100_000, figures=figures)
    assert len(event_body(told)) < 100_000
    assert len(slack_body(told)) < 4_000
    event_body(notice(name="\udc80")).decode("ascii")


@pytest.mark.parametrize("status", [429, 503, 302])
async def test_a_receiver_says_when_to_try_again(status: int) -> None:
    async with Receiver([status], wait="90") as receiver:
        with pytest.raises(BackendOverloaded, match=f"answered with status {status}") as raised:
            await hook(receiver.url).deliver(notice())
    assert raised.value.retry_after == 90
