"""Dead letters: what every stream writes on a message that it puts aside."""

from __future__ import annotations

from caliper.ports.stream import Delivery, Message

DEAD_LETTERS = "dead-letters"


def letter(delivery: Delivery, error: str) -> Message:
    """The message for the topic dead-letters: value and headers as they came, and in headers
    the error, which begins with its class, how often the message was tried, and its origin.
    """
    message = delivery.message
    headers = {
        **message.headers,
        "error": error,
        "attempts": str(delivery.attempt),
        "crashes": str(delivery.crashes),
        "origin": message.topic,
        "origin-partition": str(delivery.partition),
        "origin-offset": str(delivery.offset),
    }
    return Message(DEAD_LETTERS, message.key, message.value, headers)
