"""Everything that can go wrong, and what each failure means outside.

The tree:

    CaliperError
    ├── InvalidInput            a file, a field or an option is wrong; says which
    │   ├── UnknownName         a name that is on no list; says the list
    │   └── NewerSchema         written by a newer Caliper than this one
    ├── NotFound                no run goes by this id
    ├── AlreadyExists           a key of the caller's own that stands for something else
    ├── NotReady                the run has not come so far
    ├── NotComparable           runs that differ in more than their checkpoints
    ├── MediaMissing            a picture or clip is not where the dataset says
    ├── BackendError
    │   ├── BackendOverloaded   429 and friends; may carry how long to wait
    │   ├── BackendUnavailable  refused, reset, 5xx
    │   ├── BackendTimeout      no answer before the deadline
    │   └── BackendRejected     the endpoint will never accept this: 401, 404, 413
    ├── UnreadableReply         a reply came, and it holds no answer
    ├── ModelChanged            an endpoint serves another model than the run resolved
    ├── BudgetSpent             a run used the tokens that it may use
    ├── StoreUnavailable
    │   └── StoreFull           no space left on the device
    └── StreamUnavailable

`HANDLING` says for each class what callers over gRPC see, what a stream worker does with
the job, and which reason an outcome gets. A subclass without a row is a defect; a test
holds that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caliper.core.outcome import Reason


class CaliperError(Exception):
    """Base of every failure that Caliper raises on purpose."""


class InvalidInput(CaliperError):
    """Input that cannot be used. `where` is file, line and field as far as they are known."""

    def __init__(
        self, message: str, *, file: str = "", line: int | None = None, field: str = ""
    ) -> None:
        self.message, self.file, self.line, self.field = message, file, line, field
        super().__init__(str(self))

    @property
    def where(self) -> str:
        """`file:line: field` with the unknown parts left out."""
        place = self.file
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        return ": ".join(part for part in (place, self.field) if part)

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


def within(field: str, error: InvalidInput) -> InvalidInput:
    """The same about a part of a request: its field is looked for inside of `field`."""
    place = f"{field}.{error.field}" if error.field else field
    return InvalidInput(error.message, field=place)


class UnknownName(InvalidInput):
    """A name that nothing goes by; the message lists the names that are known."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...], *, file: str = "") -> None:
        super().__init__(f"unknown {kind} {name!r}; known: {', '.join(known)}", file=file)


class NewerSchema(InvalidInput):
    """A file or message whose schema number this release cannot read."""


class NotFound(CaliperError):
    """A run that nobody started."""


class AlreadyExists(CaliperError):
    """A caller's own key that was used for another spec."""


class NotReady(CaliperError):
    """What was asked for needs a run that has come further."""


class NotComparable(CaliperError):
    """Runs whose figures do not tell two checkpoints apart. `reasons` are some of what differs,
    each as its kind (benchmark, model, setting or spec), what it is, and how it differs.
    """

    def __init__(self, message: str, reasons: tuple[tuple[str, str, str], ...] = ()) -> None:
        self.reasons = reasons
        super().__init__(message)


class MediaMissing(CaliperError):
    """A picture or clip that the dataset names is not there."""


class BackendError(CaliperError):
    """A model's endpoint failed. Never a score."""


class BackendOverloaded(BackendError):
    """The endpoint asks for less. `retry_after` is in seconds, None when it did not say."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class BackendUnavailable(BackendError):
    """The endpoint cannot be reached or fails by itself."""


class BackendTimeout(BackendError):
    """The deadline of a call passed."""


class BackendRejected(BackendError):
    """The endpoint refuses this request for good; asking again would not help."""


class UnreadableReply(CaliperError):
    """A reply that holds no answer, even after it was asked once more."""


class ModelChanged(CaliperError):
    """A reply came from another model or revision than the run was resolved with."""


class BudgetSpent(CaliperError):
    """The run used the tokens that it may use; nothing more is asked."""


class StoreUnavailable(CaliperError):
    """The object store does not answer; work pauses until it does."""


class StoreFull(StoreUnavailable):
    """No space left where objects or run directories are written."""


class StreamUnavailable(CaliperError):
    """The job stream does not answer; work pauses until it does."""


class JobFate(StrEnum):
    """What a stream worker does with a job that ended in a failure."""

    DEAD_LETTER = "dead-letter"
    RETRY = "retry within the job's budget, then dead-letter"
    ASK_ONCE_MORE = "ask once more, then acknowledge"
    FAIL_RUN = "tell the aggregator, which fails the run"
    PAUSE = "pause until it is back"
    RETRY_ONCE = "retry once, then dead-letter"


@dataclass(frozen=True, slots=True)
class Handling:
    """One row of the table of failures."""

    grpc_status: str | None
    fate: JobFate
    reason: Reason | None


HANDLING: dict[type[Exception], Handling] = {
    InvalidInput: Handling("INVALID_ARGUMENT", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    UnknownName: Handling("INVALID_ARGUMENT", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    NewerSchema: Handling("INVALID_ARGUMENT", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    NotFound: Handling("NOT_FOUND", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    AlreadyExists: Handling("ALREADY_EXISTS", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    NotReady: Handling("FAILED_PRECONDITION", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    NotComparable: Handling("FAILED_PRECONDITION", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    MediaMissing: Handling("NOT_FOUND", JobFate.DEAD_LETTER, Reason.MEDIA_MISSING),
    BackendError: Handling("UNAVAILABLE", JobFate.RETRY, Reason.BACKEND),
    BackendOverloaded: Handling("RESOURCE_EXHAUSTED", JobFate.RETRY, Reason.BACKEND),
    BackendUnavailable: Handling("UNAVAILABLE", JobFate.RETRY, Reason.BACKEND),
    BackendTimeout: Handling("DEADLINE_EXCEEDED", JobFate.RETRY, Reason.TIMEOUT),
    BackendRejected: Handling("FAILED_PRECONDITION", JobFate.DEAD_LETTER, Reason.BACKEND),
    UnreadableReply: Handling(None, JobFate.ASK_ONCE_MORE, Reason.UNREADABLE),
    ModelChanged: Handling("FAILED_PRECONDITION", JobFate.FAIL_RUN, None),
    BudgetSpent: Handling("RESOURCE_EXHAUSTED", JobFate.DEAD_LETTER, Reason.BUDGET),
    StoreUnavailable: Handling("UNAVAILABLE", JobFate.PAUSE, None),
    StoreFull: Handling("UNAVAILABLE", JobFate.PAUSE, None),
    StreamUnavailable: Handling("UNAVAILABLE", JobFate.PAUSE, None),
    CaliperError: Handling("INTERNAL", JobFate.RETRY_ONCE, Reason.INTERNAL),
}
_ANYTHING_ELSE = Handling("INTERNAL", JobFate.RETRY_ONCE, Reason.INTERNAL)


def handling(error: BaseException) -> Handling:
    """The row of the table for `error`: that of its class, or of anything else."""
    return HANDLING.get(type(error), _ANYTHING_ELSE)  # type: ignore[arg-type]
