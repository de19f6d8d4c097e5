"""The table of what users may do names what there is, and leaves to each what is its own."""

from fnmatch import fnmatchcase

import pytest

from caliper.adapters.cluster.grants import STORE_GRANTS, STREAM_GRANTS
from caliper.adapters.notices.topic import SUITE_EVENTS
from caliper.adapters.streams.kafka_topics import EVENTS, TOPICS
from caliper.wiring.suites_settings import SuitesSettings

RUN = "runs/0123456789abcdef"


@pytest.mark.parametrize(
    ("key", "writers"),
    [
        (f"{RUN}/report/report.json", {"aggregator"}),
        (f"{RUN}/verdicts/00000000.jsonl.gz", {"aggregator"}),
        (f"{RUN}/plan/summary.json", {"gateway"}),
        (f"{RUN}/queue/0000000001/000000.gz", {"aggregator", "gateway"}),
        (f"{RUN}/anchors/capability.json", {"judge", "qa-reader"}),
        (f"{RUN}/captions/capability/a.json", {"captioner"}),
        ("supplied/a.jsonl.gz", {"gateway", "suites"}),
        ("datasets/a/manifest.json", {"gateway"}),
        ("datasets/names/a/v1.json", {"gateway"}),
        ("media/a", {"gateway"}),
        ("aggregator/slot-0/lease.json", {"aggregator"}),
        ("packs/a.pack", {"gateway", "captioner", "judge", "qa-reader", "suites"}),
        ("health/doctor", {"client"}),
    ],
)
def test_each_key_is_written_by_those_whose_it_is(key: str, writers: set[str]) -> None:
    may = {
        user
        for user, grant in STORE_GRANTS.items()
        if any(fnmatchcase(key, pattern) for pattern in grant.writes)
    }
    assert may == writers


def test_replies_are_read_by_those_who_verify_them() -> None:
    readers = {
        user
        for user, grant in STORE_GRANTS.items()
        if {"jobs/*", "captions/*", "packs/*"} & {*grant.reads, *grant.writes}
    }
    assert readers == {"gateway", "captioner", "judge", "qa-reader", "suites"}


def test_topics_are_those_that_there_are() -> None:
    known = {topic.name for topic in TOPICS}
    told = {
        permit.name
        for user, grant in STREAM_GRANTS.items()
        for permit in grant.permits()
        if user != "suites"
    }
    assert told == known
    announced = SuitesSettings.model_fields["topic"].default
    named = {permit.name for permit in STREAM_GRANTS["suites"].permits()}
    assert named == {announced, SUITE_EVENTS} == {announced, EVENTS.name}
