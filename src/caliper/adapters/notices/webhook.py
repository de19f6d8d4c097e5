"""Webhooks: a notice is posted as JSON, signed as Standard Webhooks says (standardwebhooks.com).

Three headers come with it: `webhook-id`, the notice's id; `webhook-timestamp`, seconds since 1970;
`webhook-signature`, "v1," and the base64 of the HMAC-SHA256 over `id.timestamp.body`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Collection
from dataclasses import dataclass

import aiohttp

from caliper.adapters.retry_after import retry_after
from caliper.core.errors import (
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
)
from caliper.core.notice_marks import NoticeKind
from caliper.core.notices import Notice
from caliper.ports.clock import Clock

_ENCODED = "whsec_"


@dataclass(frozen=True, slots=True)
class Webhook:
    """ports.notices.NoticeTarget. `url` and `secret` are read for each notice, since either may
    come from a file that changes; without a secret nothing is signed. `seconds` limit a request.
    """

    kinds: Collection[NoticeKind]
    url: Callable[[], str]
    secret: Callable[[], str] | None
    body: Callable[[Notice], bytes]
    clock: Clock
    seconds: float = 10.0

    async def deliver(self, notice: Notice) -> None:
        """Post the notice once. Any status from 200 to 299 means that it was taken. Raises
        BackendOverloaded for a receiver that says when to try again.
        """
        url, body = self.url(), self.body(notice)
        if not url.startswith(("https://", "http://")):
            raise InvalidInput("expected a URL with http or https", field="url")
        sent = str(int(self.clock.now().timestamp()))
        headers = {"content-type": "application/json", "webhook-id": notice.id}
        headers |= {"webhook-timestamp": sent, "user-agent": "caliper"}
        if self.secret is not None:
            headers["webhook-signature"] = signature(self.secret(), notice.id, sent, body)
        status, wait = await _post(url, body, headers, self.seconds)
        if 200 <= status < 300:
            return
        message = f"answered with status {status}"
        if wait is not None:
            raise BackendOverloaded(message, wait)
        raise BackendRejected(message)


def signature(secret: str, notice: str, sent: str, body: bytes) -> str:
    """The header `webhook-signature`. A secret that begins with whsec_ is base64. Raises
    InvalidInput if it is not.
    """
    key = secret.encode()
    if secret.startswith(_ENCODED):
        try:
            key = base64.b64decode(secret.removeprefix(_ENCODED), validate=True)
        except binascii.Error as error:
            raise InvalidInput(f"what follows {_ENCODED} is not base64", field="secret") from error
    content = f"{notice}.{sent}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


async def _post(
    url: str, body: bytes, headers: dict[str, str], seconds: float
) -> tuple[int, float | None]:
    """The status of the answer, whose body nobody reads, and the seconds to wait that it asks for.
    Errors do not name the URL, which may be a secret.
    """
    limit = aiohttp.ClientTimeout(total=seconds)
    try:
        async with (
            aiohttp.ClientSession(timeout=limit) as session,
            session.post(url, data=body, headers=headers, allow_redirects=False) as answer,
        ):
            received = answer.headers
            return answer.status, retry_after(received.get("retry-after"), received.get("date"))
    except TimeoutError as error:
        raise BackendTimeout(f"no answer in {seconds:g} s") from error
    except aiohttp.InvalidURL as error:
        raise InvalidInput("no valid URL", field="url") from error
    except (aiohttp.ClientError, OSError) as error:
        raise BackendUnavailable(f"cannot be reached: {type(error).__name__}") from error
