"""The classes by which kafka-python reads responses of Kafka's protocol, made before threads start.

kafka-python 3.0.12 makes a class for a version of a response when it first meets it, and finds it
later by a weak reference to the one made last. Threads that meet a version at once make one each,
of which one is kept. If that is not the one made last, no connection of the process can read this
response again: one that is opened times out, until the process ends.
"""

from __future__ import annotations

from kafka.protocol.api_header import ResponseClassRegistry


def make_response_classes() -> None:
    """Make the class of each version of each response."""
    known = ResponseClassRegistry._response_class_registry  # noqa: SLF001 - there is no other way
    for primary in [response[None] for response in known.values()]:
        for version in range(primary.min_version, primary.max_version + 1):
            # Looking it up makes it.
            primary[version]
