"""The run or job that a task works on, for its log records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256

from caliper.pipeline.store.runs import is_run_id

_SUBJECT: ContextVar[str] = ContextVar("subject", default="")
_NAMES = ("run", "benchmark", "sample")


@contextmanager
def log_subject(key: str) -> Iterator[None]:
    """Work on a run or a job inside: `key` is a run id or the key of a message about either.

    Tasks that begin inside keep the subject to their end.
    """
    token = _SUBJECT.set(key)
    try:
        yield
    finally:
        _SUBJECT.reset(token)


def subject_ids() -> dict[str, str]:
    """The `run` of the current task, with `benchmark` and `sample` if it works on a job.

    Empty without either, and for a key that names no run.
    """
    parts = _SUBJECT.get().split("/", 2)
    if not is_run_id(parts[0]):
        return {}
    # Other keys are RUN/KIND.
    return dict(zip(_NAMES, parts if len(parts) == len(_NAMES) else parts[:1], strict=False))


def job_span(subject: Mapping[str, str], stage: str = "") -> int:
    """The id of the span of a stage's job in traces; by default of the judging stage."""
    key = "/".join([stage, *subject.values()])
    return int(sha256(key.encode()).hexdigest()[:16], 16) or 1
