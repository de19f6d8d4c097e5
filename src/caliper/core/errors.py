"""Every failure that Caliper raises, and how each is handled.

The tree:

    CaliperError
    ├── InvalidInput            a file, field or option is wrong; names it
    │   ├── UnknownName         an unknown name; lists the known ones
    │   ├── NewerSchema         written by a newer Caliper than this one
    │   ├── RunInUse            another process works on this run directory
    │   └── DataLoss            an object of the store is missing or unreadable; names it
    ├── NotFound                no run has this id
    ├── AlreadyExists           the caller's own key already belongs to another spec
    ├── NotReady                the run, suite or checkpoint is in a state that does not allow it
    ├── NotComparable           runs that differ in more than their checkpoints
    ├── MediaMissing            a picture or clip is not where the dataset says
    ├── BackendError
    │   ├── BackendOverloaded   429 and friends; may carry how long to wait
    │   ├── BackendUnavailable  refused, reset, 5xx
    │   ├── BackendTimeout      no answer before the deadline
    │   └── BackendRejected     the endpoint will never accept this: 401, 404, 413
    ├── UnreadableReply         a reply without an answer in it
    ├── FunctionFailed          a function of the caller, or a plug-in, misbehaves
    ├── ModelChanged            an endpoint serves another model than the run resolved
    ├── BudgetSpent             the run has used up its tokens
    ├── LeaseLost               another process took over writing
    ├── StoreUnavailable
    │   └── StoreFull           no space left on the device
    └── StreamUnavailable

`ERROR_POLICIES` gives for each class the gRPC status that callers see, what a stream worker does
with the job, and the reason of the outcome. A test fails if a subclass has no row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from caliper.core.outcome import Reason


class CaliperError(Exception):
    """Base class of every failure that Caliper raises on purpose."""


class InvalidInput(CaliperError):
    """Unusable input. `where` gives its file, line and field as far as they are known."""

    def __init__(
        self, message: str, *, file: str = "", line: int | None = None, field: str = ""
    ) -> None:
        self.message, self.file, self.line, self.field = message, file, line, field
        super().__init__(str(self))

    @property
    def where(self) -> str:
        """`file:line: field`, without the unknown parts."""
        place = self.file
        if self.line is not None:
            place += f":{self.line}" if place else f"line {self.line}"
        return ": ".join(part for part in (place, self.field) if part)

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


def within(field: str, error: InvalidInput) -> InvalidInput:
    """The same error with its field nested in `field` of a request."""
    place = f"{field}.{error.field}" if error.field else field
    return InvalidInput(error.message, field=place)


class UnknownName(InvalidInput):
    """An unknown name; the message lists the known ones."""

    def __init__(self, kind: str, name: str, known: tuple[str, ...], *, file: str = "") -> None:
        super().__init__(f"unknown {kind} {name!r}; known: {', '.join(known)}", file=file)


class NewerSchema(InvalidInput):
    """A file or message whose schema number is too new for this release."""


class RunInUse(InvalidInput):
    """Another process works on this run directory."""


class DataLoss(InvalidInput):
    """An object of the store is missing or unreadable; `file` is its key."""

    @classmethod
    def missing(cls, file: str) -> DataLoss:
        """The error for a missing object that a new start of the run writes again."""
        return cls("missing from the store; start the run again", file=file)


class NotFound(CaliperError):
    """No such run was ever started."""


class AlreadyExists(CaliperError):
    """The caller's key or name already belongs to something else."""


class NotReady(CaliperError):
    """The run, suite or checkpoint is not in a state that allows this request."""


class NotComparable(CaliperError):
    """Runs that differ in more than their checkpoints. `reasons` list some of the differences:
    kind (benchmark, model, setting or spec), what differs, and how.
    """

    def __init__(self, message: str, reasons: tuple[tuple[str, str, str], ...] = ()) -> None:
        self.reasons = reasons
        super().__init__(message)


class MediaMissing(CaliperError):
    """A picture or clip that the dataset names does not exist."""


class BackendError(CaliperError):
    """A model endpoint failed. Never becomes a score."""


class BackendOverloaded(BackendError):
    """The endpoint asks for fewer calls. `retry_after` is in seconds, None if it gave none."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class BackendUnavailable(BackendError):
    """The endpoint cannot be reached or has an internal failure."""


class BackendTimeout(BackendError):
    """The deadline of a call passed."""


class BackendRejected(BackendError):
    """The endpoint refuses this request for good; a retry would not help."""


class UnreadableReply(CaliperError):
    """A reply without an answer, even after asking once more."""


class FunctionFailed(CaliperError):
    """A function of the caller or a plug-in raised the `cause`, or returned a wrong value."""

    def __init__(self, message: str, cause: BaseException | None = None) -> None:
        self.cause = cause
        super().__init__(message)


class ModelChanged(CaliperError):
    """A reply came from another model or revision than the run resolved."""


class BudgetSpent(CaliperError):
    """The run has used up its tokens; no more calls are made."""


class LeaseLost(CaliperError):
    """Another process has taken over writing; this one stops."""


class StoreUnavailable(CaliperError):
    """The object store is not responding; work pauses until it does."""


class StoreFull(StoreUnavailable):
    """No disk space left for objects or run directories."""


class StreamUnavailable(CaliperError):
    """The job stream is not responding; work pauses until it does."""


class JobFate(StrEnum):
    """The action of a stream worker on a failed job."""

    DEAD_LETTER = "dead-letter"
    RETRY = "retry within the job's budget, then dead-letter"
    ASK_ONCE_MORE = "ask once more, then acknowledge"
    FAIL_RUN = "report to the aggregator, which fails the run"
    PAUSE = "pause until it is back"
    RETRY_ONCE = "retry once, then dead-letter"


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """How a failure is handled: the gRPC status of the call, the fate of the job, and the reason of
    the outcome; None where it has none.
    """

    grpc_status: str | None
    fate: JobFate
    reason: Reason | None


ERROR_POLICIES: dict[type[Exception], ErrorPolicy] = {
    InvalidInput: ErrorPolicy("INVALID_ARGUMENT", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    UnknownName: ErrorPolicy("INVALID_ARGUMENT", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    NewerSchema: ErrorPolicy("INVALID_ARGUMENT", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    RunInUse: ErrorPolicy("FAILED_PRECONDITION", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    DataLoss: ErrorPolicy("DATA_LOSS", JobFate.FAIL_RUN, None),
    NotFound: ErrorPolicy("NOT_FOUND", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    AlreadyExists: ErrorPolicy("ALREADY_EXISTS", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    NotReady: ErrorPolicy("FAILED_PRECONDITION", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    NotComparable: ErrorPolicy("FAILED_PRECONDITION", JobFate.DEAD_LETTER, Reason.BAD_INPUT),
    MediaMissing: ErrorPolicy("NOT_FOUND", JobFate.DEAD_LETTER, Reason.MEDIA_MISSING),
    BackendError: ErrorPolicy("UNAVAILABLE", JobFate.RETRY, Reason.BACKEND),
    BackendOverloaded: ErrorPolicy("RESOURCE_EXHAUSTED", JobFate.RETRY, Reason.BACKEND),
    BackendUnavailable: ErrorPolicy("UNAVAILABLE", JobFate.RETRY, Reason.BACKEND),
    BackendTimeout: ErrorPolicy("DEADLINE_EXCEEDED", JobFate.RETRY, Reason.TIMEOUT),
    BackendRejected: ErrorPolicy("FAILED_PRECONDITION", JobFate.DEAD_LETTER, Reason.BACKEND),
    UnreadableReply: ErrorPolicy(None, JobFate.ASK_ONCE_MORE, Reason.UNREADABLE),
    FunctionFailed: ErrorPolicy("FAILED_PRECONDITION", JobFate.FAIL_RUN, None),
    ModelChanged: ErrorPolicy("FAILED_PRECONDITION", JobFate.FAIL_RUN, None),
    BudgetSpent: ErrorPolicy("RESOURCE_EXHAUSTED", JobFate.DEAD_LETTER, Reason.BUDGET),
    LeaseLost: ErrorPolicy("UNAVAILABLE", JobFate.PAUSE, None),
    StoreUnavailable: ErrorPolicy("UNAVAILABLE", JobFate.PAUSE, None),
    StoreFull: ErrorPolicy("UNAVAILABLE", JobFate.PAUSE, None),
    StreamUnavailable: ErrorPolicy("UNAVAILABLE", JobFate.PAUSE, None),
    CaliperError: ErrorPolicy("INTERNAL", JobFate.RETRY_ONCE, Reason.INTERNAL),
}
_DEFAULT = ErrorPolicy("INTERNAL", JobFate.RETRY_ONCE, Reason.INTERNAL)


def error_policy(error: BaseException) -> ErrorPolicy:
    """The row for the class of `error`, or the default row."""
    return ERROR_POLICIES.get(type(error), _DEFAULT)  # type: ignore[arg-type]
