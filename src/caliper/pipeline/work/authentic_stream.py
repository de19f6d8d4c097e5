"""Signed messages: a service that can write to a topic cannot write as another service.

Verdicts and events of runs have two headers: `sender` names the service, and `mac` is the
HMAC-SHA-256 of topic, key and value, hexadecimal. Every sender has its own key, derived from the
verifier's.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import replace

from caliper.core.envelopes import Message, bytes_of
from caliper.pipeline.planning.publisher import RUNS, VERDICTS
from caliper.ports.security_events import Refusal
from caliper.ports.stream import Backlog, Consumer, JobStream

GATEWAY, CAPTIONER, JUDGE, QA_READER = "gateway", "captioner", "judge", "qa-reader"
AGGREGATOR = "aggregator"
SENDERS = (GATEWAY, CAPTIONER, JUDGE, QA_READER, AGGREGATOR)
SIGNED_TOPICS = frozenset((VERDICTS, RUNS))
SENDER, _MAC = "sender", "mac"


class Misfit(Exception):
    """A message that is not entered. `reason` is for metrics, the text for the log."""

    def __init__(self, reason: Refusal, text: str) -> None:
        super().__init__(text)
        self.reason = reason


def sender_key(key: bytes, sender: str) -> bytes:
    """The key of a sender, derived from the verifier's."""
    return hmac.digest(key, sender.encode(), "sha256").hex().encode()


class AuthenticStream:
    """`stream`, with messages of the signed topics signed by `sender` with its `key`."""

    def __init__(self, stream: JobStream, sender: str, key: bytes) -> None:
        self._stream, self._sender, self._key = stream, sender, key

    async def publish(self, message: Message) -> None:
        """Like the port. Raises TypeError for a message that was not encoded."""
        if message.topic in SIGNED_TOPICS:
            signature = {SENDER: self._sender, _MAC: _mac(self._key, message)}
            message = replace(message, headers={**message.headers, **signature})
        await self._stream.publish(message)

    def consumer(self, topic: str, group: str) -> Consumer:
        return self._stream.consumer(topic, group)

    async def backlog(self, topic: str, group: str) -> Backlog:
        return await self._stream.backlog(topic, group)

    async def untaken(self, topic: str, group: str) -> Mapping[int, int]:
        return await self._stream.untaken(topic, group)


class Signatures:
    """Verifies signed messages with any of `keys`; without keys nothing is verified."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._keys = {
            sender: tuple(sender_key(key, sender) for key in keys) for sender in SENDERS if keys
        }

    def sender(self, message: Message) -> str:
        """The sender of a message; empty without keys. Raises Misfit for one whose signature is
        missing or wrong.
        """
        if not self._keys:
            return ""
        sender, mac = message.headers.get(SENDER, ""), message.headers.get(_MAC, "")
        if not mac:
            raise Misfit(Refusal.UNSIGNED, "it has no signature")
        signature = mac.encode("utf-8", "surrogatepass")
        if not any(
            hmac.compare_digest(signature, _mac(key, message).encode())
            for key in self._keys.get(sender, ())
        ):
            raise Misfit(Refusal.FORGED, f"the signature is not by its sender {sender!r:.40}")
        return sender


def _mac(key: bytes, message: Message) -> str:
    # Names of topics hold no zero byte, and the length separates key and value.
    place = f"{message.topic}\0{len(message.key)}\0{message.key}".encode("utf-8", "surrogatepass")
    return hmac.digest(key, place + bytes_of(message), "sha256").hex()
