"""Permissions of an installation's users: the one table behind the policies of the store and the
ACLs of the brokers.

Keys are patterns, in which `*` stands for anything, slashes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from caliper.core.dead_letters import DEAD_LETTERS
from caliper.pipeline.planning.publisher import (
    CAPTION_JOBS,
    JOB_TOPICS,
    JUDGE_JOBS,
    PLAN_JOBS,
    QA_JOBS,
    RUNS,
    VERDICTS,
)
from caliper.pipeline.suites.notifications import MARKER

_VERSION = "2012-10-17"
"""The version of the policy language."""
_STAGE_TOPICS = (CAPTION_JOBS, JUDGE_JOBS, QA_JOBS)


@dataclass(frozen=True, slots=True)
class StoreGrant:
    """The keys that a user may read and list, write, and delete. It may read what it writes."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()

    def statements(self, bucket: str) -> list[dict[str, Any]]:
        """The grant as statements of a policy."""
        place, readable = f"arn:aws:s3:::{bucket}", sorted({*self.reads, *self.writes})
        rights = {
            "s3:GetObject": readable,
            "s3:PutObject": sorted(self.writes),
            # For parts of a failed upload.
            "s3:AbortMultipartUpload": sorted(self.writes),
            "s3:DeleteObject": sorted(self.deletes),
        }
        listing = {
            **_statement("Allow", "s3:ListBucket", place),
            "Condition": {"StringLike": {"s3:prefix": readable}},
        }
        allowed = (
            _statement("Allow", action, *(f"{place}/{key}" for key in keys))
            for action, keys in rights.items()
            if keys
        )
        return [listing, *allowed]


def _statement(effect: str, action: str, *resources: str) -> dict[str, Any]:
    return {"Effect": effect, "Action": [action], "Resource": list(resources)}


def policy(statements: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A policy of MinIO. Its user cannot create other keys: these would outlive its own."""
    denied = {"Effect": "Deny", "Action": ["admin:CreateServiceAccount"]}
    return {"Version": _VERSION, "Statement": [*statements, denied]}


class Permit(NamedTuple):
    """An operation that a user may do on a topic or a group: `resource` says which of them."""

    resource: str
    name: str
    operation: str


@dataclass(frozen=True, slots=True)
class StreamGrant:
    """The topics whose jobs a user takes, in the group of their name; those that it reads without
    a group; those whose lag it measures; those that it publishes to; and those that it creates.
    """

    takes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    publishes: tuple[str, ...] = ()
    creates: tuple[str, ...] = ()

    def permits(self) -> frozenset[Permit]:
        """The grant as what Kafka's ACLs allow. Describing is implied by reading and writing."""
        allowed = {
            "READ": (*self.takes, *self.reads),
            "DESCRIBE": self.measures,
            "WRITE": self.publishes,
            "CREATE": self.creates,
            "ALTER": self.creates,
            "ALTER_CONFIGS": self.creates,
            "DESCRIBE_CONFIGS": self.creates,
        }
        topics = {Permit("topic", name, each) for each, names in allowed.items() for name in names}
        groups = {Permit("group", name, "READ") for name in self.takes}
        groups |= {Permit("group", name, "DESCRIBE") for name in self.measures}
        return frozenset(topics | groups)


_HEALTH = "health"
_REPLIES = ("jobs/*", "captions/*", "packs/*")
_DATA = ("datasets/*", "media/*")
_OF_RUNS = tuple(f"runs/*/{name}.json" for name in ("spec", "started", "cancelled", "end"))
_STAGE_READS = (_HEALTH, *_REPLIES, *_OF_RUNS, "datasets/*")
_STAGE_WRITES = ("packs/*", "runs/*/reused/*", "runs/*/spent/*", "teams/spent/*")
_EXAMINER = StoreGrant(_STAGE_READS, (*_STAGE_WRITES, "runs/*/anchors/*"))

STORE_GRANTS: Mapping[str, StoreGrant] = {
    "gateway": StoreGrant(
        (_HEALTH, *_REPLIES, "runs/*", "slots/*"),
        (
            *_DATA,
            *_OF_RUNS,
            "client-keys/*",
            "packs/*",
            "run-index/*",
            "runs/*/judging.json",
            "runs/*/owners.json",
            "runs/*/plan/*",
            "runs/*/queue/*",
            "runs/*/refused.json",
            "stages/*",
            "suites/*",
            "supplied/*",
            "teams/*",
        ),
        # Runs that retention removes.
        (*_REPLIES, "client-keys/*", "run-index/*", "runs/*"),
    ),
    "captioner": StoreGrant((*_STAGE_READS, "media/*"), (*_STAGE_WRITES, "runs/*/captions/*")),
    "judge": _EXAMINER,
    "qa-reader": _EXAMINER,
    "aggregator": StoreGrant(
        (_HEALTH, *_DATA, "runs/*", "supplied/*"),
        (
            "aggregator/*",
            "runs/*/end.json",
            # Of runs that are decided early, block by block.
            "runs/*/queue/*",
            "runs/*/report-attempts.json",
            "runs/*/report/*",
            "runs/*/verdicts/*",
        ),
    ),
    "suites": StoreGrant(
        (_HEALTH, *_REPLIES, *_DATA, "runs/*"),
        (
            "datasets/*/media/*",
            "packs/*",
            "runs/*/owners.json",
            "runs/*/paid.json",
            "slots/*",
            "suite-sources/*",
            "suites/*",
            "supplied/*",
        ),
        ("slots/*", "suites/*"),
    ),
    # `caliper doctor`: whatever people push goes through the gateway.
    "client": StoreGrant((_HEALTH,), ("health/*",)),
}
"""Users of the store, by name."""


def store_policy(user: str, bucket: str, checkpoints: Iterable[str] = ()) -> dict[str, Any]:
    """The policy of a user of MinIO. `checkpoints` are where suites find them: BUCKET/PREFIX."""
    return policy(_statements(user, bucket, checkpoints))


def iam_policy(user: str, bucket: str, checkpoints: Iterable[str] = ()) -> dict[str, Any]:
    """The policy of a user or role elsewhere, in the terms of Amazon's IAM.

    It may list all keys: a condition would not hold for reads of an object that does not exist,
    and these would be denied.
    """
    statements = _statements(user, bucket, checkpoints)
    for statement in statements:
        statement.pop("Condition", None)
    return {"Version": _VERSION, "Statement": statements}


def _statements(user: str, bucket: str, checkpoints: Iterable[str]) -> list[dict[str, Any]]:
    statements = STORE_GRANTS[user].statements(bucket)
    if user == "suites":
        for place in checkpoints:
            other, _, prefix = place.partition("/")
            folder, slash, _ = prefix.rpartition("/")
            markers = (f"{folder}{slash}*{MARKER}",)
            statements += StoreGrant((f"{prefix}*",), markers, markers).statements(other)
    return statements


_SUITE_EVENTS = "suite-events"
_EXAMINED = (VERDICTS, RUNS, DEAD_LETTERS)

STREAM_GRANTS: Mapping[str, StreamGrant] = {
    "gateway": StreamGrant(
        takes=(PLAN_JOBS,),
        # Dead letters are replayed with its user.
        reads=(*_STAGE_TOPICS, DEAD_LETTERS),
        measures=JOB_TOPICS,
        publishes=(*JOB_TOPICS, RUNS, DEAD_LETTERS),
    ),
    "captioner": StreamGrant(takes=(CAPTION_JOBS,), publishes=(JUDGE_JOBS, QA_JOBS, *_EXAMINED)),
    "judge": StreamGrant(takes=(JUDGE_JOBS,), publishes=_EXAMINED),
    "qa-reader": StreamGrant(takes=(QA_JOBS,), publishes=_EXAMINED),
    "aggregator": StreamGrant(
        reads=(VERDICTS, RUNS),
        measures=_STAGE_TOPICS,
        publishes=(*_STAGE_TOPICS, VERDICTS, RUNS),
    ),
    "suites": StreamGrant(
        reads=("checkpoints",), publishes=(_SUITE_EVENTS,), creates=(_SUITE_EVENTS,)
    ),
    # The scaler of the stages.
    "scaler": StreamGrant(measures=_STAGE_TOPICS),
}
"""Users of the brokers, by name."""


def store_secret(user: str) -> str:
    """The Secret that holds the keys of a user of the store."""
    return f"caliper-store-{user}"


def stream_secret(user: str) -> str:
    """The Secret that holds the name and password of a user of the brokers."""
    return f"caliper-kafka-{user}"
