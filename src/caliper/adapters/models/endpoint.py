"""The address of a chat endpoint, and the meaning of its HTTP responses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from caliper.adapters.models.context import TOO_LONG, too_long
from caliper.adapters.retry_after import retry_after
from caliper.core.errors import (
    BackendError,
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server with an OpenAI-style API.

    `base` is its URL without a trailing slash and without `/v1`. `model` is the name of one of
    its models, empty for the first. `revision` is the one that the user names, if any. `kind` is
    `chat`, or `tgi` for one that may be TGI.
    """

    base: str
    model: str = ""
    revision: str = ""
    kind: str = "tgi"

    @property
    def host(self) -> str:
        """The host, with its port if the URL has one: the part that is safe to show."""
        return urlsplit(self.base).netloc

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        url = urlsplit(self.base)
        return url.hostname or "", url.port or (443 if self.encrypted else 80)

    @property
    def encrypted(self) -> bool:
        """Whether the connection uses TLS."""
        return self.base.startswith("https://")


_ENDINGS = re.compile(r"(/v1)?(/chat/completions)?/*$")


def parse_endpoints(text: str, kind: str = "tgi") -> tuple[Endpoint, ...]:
    """Parse `URL[,URL...][#model[@revision]]`, the part of a model's SPEC after `chat:` or `tgi:`.

    All URLs serve the same model. A URL may end in `/v1` or `/v1/chat/completions`. Raises
    InvalidInput, whose message never repeats a URL: it may contain a secret.
    """
    urls, _, fragment = text.partition("#")
    model, at, revision = fragment.rpartition("@")
    if at and not revision:
        raise InvalidInput("no revision after the @", field=kind)
    model_revision = (model, revision) if at else (fragment, "")
    endpoints = tuple(
        Endpoint(_base(url, fragment, kind), *model_revision, kind) for url in urls.split(",")
    )
    if len(set(endpoints)) < len(endpoints):
        raise InvalidInput("the same URL is listed twice", field=kind)
    return endpoints


def _base(text: str, fragment: str, kind: str) -> str:
    def wrong(message: str) -> InvalidInput:
        form = "expected http(s)://host[:port][/path][,...][#model[@revision]]"
        return InvalidInput(f"{message}; {form}", field=kind)

    if re.search(r"[\s\x00-\x1f]", text + fragment):
        raise wrong("the URL holds white space")
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError as error:
        raise wrong("the URL cannot be read") from error
    if url.scheme not in {"http", "https"}:
        raise wrong("the URL must start with http:// or https://")
    if not url.hostname or port == 0:
        raise wrong("the URL names no host, or an invalid port")
    if url.username is not None or url.password is not None:
        raise wrong("the URL holds a user name or password; give a token instead")
    if url.query:
        raise wrong("the URL holds a query; give a token instead")
    return f"{url.scheme}://{url.netloc}{_ENDINGS.sub('', url.path)}"


_ADVICE = {
    401: "it rejected the token (or none was sent); set CALIPER_TOKEN and CALIPER_TOKEN_HOSTS, "
    "or its line in CALIPER_TOKENS_FILE",
    403: "the token does not allow the use of this model",
    404: "nothing is served under this URL or by this model's name; check both",
    405: "it takes no chat completions under this URL; check it",
    413: "the request is too large; use smaller pictures or fewer frames, or raise its limit",
    422: "it cannot use the request, perhaps for its length",
    400: "it cannot use the request, perhaps for its length",
}


def status_error(
    status: int, headers: Mapping[str, str], body: str, token: str | None
) -> BackendError:
    """The error for an HTTP status of 300 or more.

    Its message includes the server's own text, cut to 200 characters and without the token.
    """
    detail = _server_text(headers, body, token)
    wait = retry_after(headers.get("retry-after"), headers.get("date"))
    if status == 429 or (status == 503 and wait is not None):
        return BackendOverloaded(f"the endpoint is overloaded (HTTP {status}){detail}", wait)
    if status in {408, 504}:
        return BackendTimeout(f"the endpoint timed out (HTTP {status}){detail}")
    if status >= 500:
        return BackendUnavailable(f"the endpoint failed (HTTP {status}){detail}")
    if status < 400:
        return BackendRejected(f"the endpoint redirects (HTTP {status}); give the URL it points to")
    advice = _ADVICE.get(status, "it does not accept the request")
    if status in {400, 413, 422} and too_long(body):
        advice = TOO_LONG
    return BackendRejected(f"the endpoint refuses (HTTP {status}): {advice}{detail}")


def _server_text(headers: Mapping[str, str], body: str, token: str | None) -> str:
    if "html" in headers.get("content-type", ""):
        return ""
    text = " ".join(body.split())
    if token:
        text = text.replace(token, "***")
    return f"; it says: {text[:200]}" if text else ""
