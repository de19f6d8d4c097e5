"""What kafka-python reads responses by is there before there are threads."""

import pytest
from kafka.protocol.api_header import ResponseClassRegistry

from caliper.adapters.streams import kafka_access

RESPONSES = {
    response[None].__name__: response[None]
    for response in ResponseClassRegistry._response_class_registry.values()
}


@pytest.mark.parametrize("name", ["ApiVersionsResponse", "FetchResponse", "MetadataResponse"])
def test_no_thread_is_the_first_to_meet_a_version_of_a_response(name: str) -> None:
    assert kafka_access.LARGEST_MESSAGE
    response = RESPONSES[name]
    assert set(response._VERSIONS) == set(range(response.min_version, response.max_version + 1))


def test_that_holds_for_all_responses() -> None:
    made = {
        name: len(each._VERSIONS) - (each.max_version - each.min_version + 1)
        for name, each in RESPONSES.items()
    }
    assert set(made.values()) == {0}, made
