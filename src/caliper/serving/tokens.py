"""Bearer tokens: authenticate callers and determine their roles.

A token file has one line per token, `name role sha256 [team]`: the caller's name, one of the roles
below, the SHA-256 of the token as 64 hexadecimal digits, and the caller's team. Empty lines and
lines that begin with `#` are skipped. Two tokens may share a name, so that a token can be rotated
without downtime.
The file contains only hashes, so reading it gives no access; tokens must be random (`openssl rand
-hex 32`), because the hashes are not salted.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from caliper.core.errors import InvalidInput
from caliper.core.owners import DEFAULT_TEAM
from caliper.serving.settings_file import SettingsFile

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Role(StrEnum):
    """The role of a caller. Each role includes the permissions of those before it."""

    READ = "read"
    EVALUATE = "evaluate"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Whether this role includes the permissions of `other`."""
        order = list(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller. The name is empty if tokens are off."""

    name: str
    role: Role
    team: str = DEFAULT_TEAM


class TokenFile:
    """The tokens of a file, reloaded when the file changes. Tokens are never logged."""

    def __init__(self, path: Path) -> None:
        """Raises InvalidInput naming file, line and field of a mistake."""
        self._file = SettingsFile(path, _read, "tokens")

    def caller(self, token: str) -> Caller | None:
        """The caller with this token; None for an unknown token.

        The time taken does not depend on the token: all digests are compared, in constant time.
        """
        digest = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        caller = None
        for other, each in self._file.content().items():
            if hmac.compare_digest(other, digest):
                caller = each
        return caller


def _read(path: Path) -> dict[bytes, Caller]:
    """The callers by the SHA-256 of their tokens."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the tokens: {error}", file=str(path)) from error
    callers: dict[bytes, Caller] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        digest, caller = _parsed(line, path, number)
        if digest in callers:
            raise InvalidInput("the same token as above", file=str(path), line=number)
        callers[digest] = caller
    if not callers:
        raise InvalidInput("the file holds no tokens", file=str(path))
    return callers


def _parsed(line: str, path: Path, number: int) -> tuple[bytes, Caller]:
    """The SHA-256 of the token in a line, and its caller."""

    # Errors do not quote the line: it may contain a token by mistake.
    def wrong(message: str, field: str = "") -> InvalidInput:
        return InvalidInput(message, file=str(path), line=number, field=field)

    parts = line.split()
    if not 3 <= len(parts) <= 4:
        raise wrong("expected name, role and the token's SHA-256, and perhaps a team")
    name, role, digest, team = (*parts, DEFAULT_TEAM)[:4]
    for field, text in (("name", name), ("team", team)):
        if not _NAME.fullmatch(text):
            message = f"a {field} is 1 to 64 letters, digits, dots, hyphens and underscores"
            raise wrong(message, field)
    if role not in list(Role):
        raise wrong(f"a role is {', '.join(Role)}", "role")
    if not _DIGEST.fullmatch(digest):
        raise wrong("not a SHA-256: 64 hexadecimal digits in small letters", "sha256")
    return bytes.fromhex(digest), Caller(name, Role(role), team)
