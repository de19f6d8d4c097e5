"""Which bytes a tag of a container image stands for, asked of its registry."""

from __future__ import annotations

import json
import re
from email.message import Message
from http import HTTPStatus
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

_SECONDS = 15
# Its images are named without the host that answers.
_HOSTS = {"docker.io": "registry-1.docker.io"}
_KINDS = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_ASKED = re.compile(r'(\w+)="([^"]*)"')


def pinned(image: str, scheme: str = "https") -> str:
    """The image with its digest behind the tag. Raises OSError with the reason where the registry
    does not answer, or tells none.
    """
    host, _, rest = image.partition("/")
    name, _, tag = rest.rpartition(":")
    url = f"{scheme}://{_HOSTS.get(host, host)}/v2/{name}/manifests/{tag}"
    try:
        told = _head(url)
    except HTTPError as refused:
        if refused.code != HTTPStatus.UNAUTHORIZED:
            raise
        told = _head(url, _token(refused.headers.get("WWW-Authenticate", ""), scheme))
    digest = told.get("Docker-Content-Digest", "")
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise OSError(f"{host} tells no digest")
    return f"{image}@{digest}"


def _head(url: str, token: str = "") -> Message:
    headers = {"Accept": ", ".join(_KINDS)}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = Request(url, headers=headers, method="HEAD")  # noqa: S310 - the scheme is ours
    with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - the scheme is ours
        found: Message = answer.headers
        return found


def _token(challenge: str, scheme: str) -> str:
    """What a registry gives everybody who asks where its answer said."""
    asked = dict(_ASKED.findall(challenge))
    realm = asked.pop("realm", "")
    if not realm.startswith(f"{scheme}://"):
        raise OSError("it asks who pulls")
    with urlopen(f"{realm}?{urlencode(asked)}", timeout=_SECONDS) as answer:  # noqa: S310 - as above
        told = json.load(answer)
    found: str = told.get("token") or told["access_token"]
    return found
