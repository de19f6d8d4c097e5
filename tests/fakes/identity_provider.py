"""What issues tokens of service accounts, as a cluster does, and what exchanges them for keys."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from tests.fakes.http_answers import AnswerHandler, serving

CLIENT = "caliper-tests"
_KEYS = """<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>lent-{number}</AccessKeyId>
<SecretAccessKey>secret-{number}</SecretAccessKey><SessionToken>session-{number}</SessionToken>
<Expiration>{until}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>"""


@dataclass
class TokenService:
    """Lends keys `lent-1`, `lent-2`, ... that are valid for `seconds`; keeps what it was asked.
    With a `status` other than 200 it lends none.
    """

    url: str = ""
    seconds: float = 3600.0
    status: int = 200
    asked: list[dict[str, str]] = field(default_factory=list)

    def response(self, query: str) -> bytes:
        self.asked.append({name: values[0] for name, values in parse_qs(query).items()})
        until = datetime.now(UTC) + timedelta(seconds=self.seconds)
        written = f"{until:%Y-%m-%dT%H:%M:%S}.000Z"
        return _KEYS.format(number=len(self.asked), until=written).encode()


@contextmanager
def token_service() -> Iterator[TokenService]:
    """One that listens at its `url`."""
    service = TokenService()

    class Handler(AnswerHandler):
        def post(self) -> None:
            self.answer(service.response(urlsplit(self.path).query), service.status)

    with serving(Handler) as address:
        service.url = f"http://{address}"
        yield service


class OpenIdIssuer:
    """Signs tokens as the service accounts of a cluster have, and publishes its key at `url`."""

    def __init__(self) -> None:
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.url = ""

    def token(self, **claims: object) -> str:
        """A token that is valid for an hour."""
        now = int(time.time())
        own = {"iss": self.url, "aud": CLIENT, "sub": "caliper", "iat": now, "exp": now + 3600}
        head = {"alg": "RS256", "typ": "JWT", "kid": "1"}
        signed = ".".join(_base64(json.dumps(part).encode()) for part in (head, {**own, **claims}))
        signature = self._key.sign(signed.encode(), padding.PKCS1v15(), SHA256())
        return f"{signed}.{_base64(signature)}"

    def document(self, path: str) -> dict[str, object]:
        """What is published there."""
        if path != "/keys":
            keys = f"{self.url}/keys"
            return {"issuer": self.url, "jwks_uri": keys, "authorization_endpoint": self.url}
        numbers = self._key.public_key().public_numbers()
        parts = {"n": _base64(numbers.n.to_bytes(256)), "e": _base64(numbers.e.to_bytes(3))}
        return {"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", **parts}]}


@contextmanager
def openid_issuer() -> Iterator[OpenIdIssuer]:
    """One that listens at its `url`."""
    issuer = OpenIdIssuer()

    class Handler(AnswerHandler):
        def get(self) -> None:
            self.answer(issuer.document(self.path))

    with serving(Handler) as address:
        issuer.url = f"http://{address}"
        yield issuer


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
