"""Settings with the keys that sign stored replies and messages."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from pydantic import SecretStr

from caliper.core.errors import InvalidInput
from caliper.pipeline.work.authentic_stream import AGGREGATOR, Signatures, sender_key
from caliper.wiring.settings import Settings, variable

_SHORTEST_KEY = 32


def _keys(settings: Settings, name: str) -> tuple[bytes, ...]:
    """The keys in a field. Raises InvalidInput naming the variable for a short one."""
    secret: SecretStr | None = getattr(settings, name)
    if secret is None:
        return ()
    keys = secret.get_secret_value().split()
    if min(map(len, keys), default=0) < _SHORTEST_KEY:
        source = name if getattr(settings, f"{name}_file") is None else f"{name}_file"
        message = f"a key has fewer than {_SHORTEST_KEY} characters"
        raise InvalidInput(message, file="environment", field=variable(type(settings), source))
    return tuple(key.encode() for key in keys)


class ReplySettings(Settings):
    """`replies_key` signs stored replies: keys of at least 32 characters, separated by white space.
    The first signs, and all verify. Without keys, replies are neither signed nor verified.
    """

    replies_key: SecretStr | None = None
    replies_key_file: Path | None = None

    def reply_keys(self) -> tuple[bytes, ...]:
        """The keys that sign replies. Raises InvalidInput naming the variable for a short one."""
        return _keys(self, "replies_key")


class SenderSettings(ReplySettings):
    """`sender_key` signs the verdicts and events that the service `SENDER` sends. The key is
    derived from the aggregator's `senders_key`. Without it, messages are not signed.
    """

    SENDER: ClassVar[str] = ""

    sender_key: SecretStr | None = None
    sender_key_file: Path | None = None

    def signing_key(self) -> bytes | None:
        """The key that signs. Raises InvalidInput naming the variable for a short one."""
        return next(iter(_keys(self, "sender_key")), None)


class VerifierSettings(ReplySettings):
    """`senders_key` verifies the messages of all senders: keys of at least 32 characters, separated
    by white space. The first also signs. Without keys, messages are accepted from everybody.
    """

    SENDER: ClassVar[str] = AGGREGATOR

    senders_key: SecretStr | None = None
    senders_key_file: Path | None = None

    def signing_key(self) -> bytes | None:
        """The key that signs. Raises InvalidInput naming the variable for a short one."""
        keys = _keys(self, "senders_key")
        return sender_key(keys[0], self.SENDER) if keys else None

    def signatures(self) -> Signatures:
        """The verifier of messages. Raises InvalidInput naming the variable for a short key."""
        return Signatures(_keys(self, "senders_key"))
