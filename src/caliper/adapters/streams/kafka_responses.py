"""The classes by which kafka-python reads responses of Kafka's protocol, made before threads start.

kafka-python 3.0.12 makes a class for a version of a response when it first meets it, and finds it
later by a weak reference to the one made last. Threads that meet a version at once make one each,
of which one is kept. If that is not the one made last, no connection of the process can read this
response again: one that is opened times out, until the process ends.
"""

from __future__ import annotations

from kafka.protocol.api_header import ResponseClassRegistry


def make_all() -> int:
    """Make the class of each version of each response. Returns how many there are."""
    known = ResponseClassRegistry._response_class_registry  # noqa: SLF001 - there is no other way
    primary = [response[None] for response in known.values()]
    return sum(
        len([each[version] for version in range(each.min_version, each.max_version + 1)])
        for each in primary
    )
