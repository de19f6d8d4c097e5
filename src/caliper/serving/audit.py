"""The audit trail: one line of the log per change of an installation, and per refused call.

Lines hold no tokens, captions or other texts, only names; what callers choose is bounded and
escaped.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from caliper.ports.security_events import CallRefused
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.serving.permissions import RULES
from caliper.serving.tokens import Caller

if TYPE_CHECKING:
    from caliper.serving.calls import Context

LOGGER = "caliper.audit"
INCOMPLETE = "INCOMPLETE"
"""The outcome of a call that pushed a dataset, or asked about it, and left contents missing."""
_LOG = logging.getLogger(LOGGER)
_LONGEST = 1000
_MINUTE = 60.0

_SERVICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "caliper.api.evaluate.v1.EvaluateService": {
        "StartEvaluation": ("evaluation.run", "name"),
        "CancelEvaluation": ("run",),
        "UploadCaptions": ("captions",),
        "UploadDataset": ("header.name", "dataset"),
    },
    "caliper.api.suites.v1.SuiteService": {
        "ApplySuite": ("suite.name",),
        "PauseSuite": ("name",),
        "ResumeSuite": ("name",),
        "RetireSuite": ("name",),
    },
    "caliper.api.suites.v1.CheckpointService": {
        "RegisterCheckpoint": ("checkpoint.name", "checkpoint.revision"),
        "RetryCheckpoint": ("checkpoint",),
        "SkipCheckpoint": ("checkpoint",),
        "ReplayNotice": ("notice.id", "id"),
    },
}

CHANGES: Mapping[str, tuple[str, ...]] = {
    f"/{service}/{method}": paths
    for service, methods in _SERVICES.items()
    for method, paths in methods.items()
}
"""The fields of response or request that may name what a method changes, the best first, by full
method name.
"""


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A line of the audit trail. One that stands for several refused calls has their number."""

    caller: str
    peer: str
    method: str
    object: str
    outcome: str
    team: str = ""
    calls: int = 0

    def fields(self) -> dict[str, str | int]:
        """The fields of the line. Texts are bounded, and valid UTF-8."""
        names = ("caller", *(["team"] if self.team else []), "peer", "method", "object", "outcome")
        texts: dict[str, str | int] = {name: _bounded(getattr(self, name)) for name in names}
        return texts | ({"calls": self.calls} if self.calls else {})

    def __str__(self) -> str:
        """JSON in ASCII, without line breaks."""
        return json.dumps(self.fields())


@dataclass(slots=True)
class AuditRecord:
    """The facts of a call or command in progress, for the audit trail."""

    method: str
    caller: Caller
    object: str = ""
    outcome: str = "OK"
    is_refused: bool = False
    rank: int | None = None
    """The place of the field that `object` is from."""

    def refuse(self, outcome: str) -> None:
        """Note that the guard refuses the call."""
        self.is_refused, self.outcome = True, outcome

    def note_response(self, response: Any) -> None:
        """Take the name from a response; a push that lacks contents is not a completed change."""
        self.name_object(response)
        if getattr(response, "missing", ()):
            self.outcome = INCOMPLETE

    def name_object(self, message: Any) -> None:
        """Take the name of what a method changes from a request or response, if it has a better
        one.
        """
        for rank, path in enumerate(CHANGES.get(self.method, ())[: self.rank]):
            value = message
            for field in path.split("."):
                value = getattr(value, field, None)
            if isinstance(value, str) and value:
                self.object, self.rank = value, rank
                return

    def line(self, peer: str) -> AuditLine:
        """The line about the call."""
        caller = self.caller
        team = caller.team if caller.name else ""
        return AuditLine(caller.name, peer, self.method, self.object, self.outcome, team)


class RefusalLog:
    """Logs the first `lines` refusals per minute of each source (caller, peer and reason), and the
    number of the others as one line at the end of the minute.

    At most `sources` are counted; the one that was refused longest ago is forgotten.
    """

    def __init__(self, lines: int = 20, sources: int = 1000) -> None:
        self._lines, self._sources = lines, sources
        self._counts: OrderedDict[AuditLine, int] = OrderedDict()

    def add(self, line: AuditLine) -> None:
        """Log or count a refusal."""
        source = replace(line, method="", object="")
        self._counts[source] = self._counts.pop(source, 0) + 1
        if self._counts[source] <= self._lines:
            _LOG.warning(line)
        if len(self._counts) > self._sources:
            self._end_oldest()

    def end_minute(self) -> None:
        """Log the numbers, and count from 0."""
        while self._counts:
            self._end_oldest()

    def _end_oldest(self) -> None:
        source, count = self._counts.popitem(last=False)
        if count > self._lines:
            _LOG.warning(replace(source, calls=count - self._lines))


class Audit:
    """The audit trail of a gRPC server: logs changes and refusals, and counts refusals."""

    def __init__(self, telemetry: Telemetry = SILENT) -> None:
        self._telemetry = telemetry
        self.refusals = RefusalLog()

    @contextmanager
    def call(self, record: AuditRecord, context: Context) -> Iterator[None]:
        """Answer a call inside."""
        try:
            yield
        except BaseException:
            if not record.is_refused:
                # A caller who leaves gets no status.
                record.outcome = getattr(context.code(), "name", "CANCELLED")
            raise
        finally:
            if record.is_refused:
                self._telemetry.record(CallRefused(_label(record.method), record.outcome.lower()))
                self.refusals.add(record.line(peer_address(context.peer())))
            elif record.method in CHANGES:
                _LOG.info(record.line(peer_address(context.peer())))

    async def run(self, minute: float = _MINUTE) -> None:
        """Log the numbers of refusals every minute, until cancelled."""
        while True:
            await asyncio.sleep(minute)
            self.refusals.end_minute()


def peer_address(peer: str) -> str:
    """The address in gRPC's name of a peer, such as `ipv6:%5B::1%5D:50051`, without the port."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else peer


def _label(method: str) -> str:
    """A method as a label of metrics: service and method, `unknown` if there is no such method."""
    return method.rpartition(".")[2] if method in RULES else "unknown"


def _bounded(text: str) -> str:
    """The text without lone surrogates, which strict readers of JSON refuse, and cut if long."""
    valid = text.encode("utf-8", "replace").decode()
    return valid if len(valid) <= _LONGEST else f"{valid[:_LONGEST]}..."
