"""The interceptor around every call: tokens, permissions, deadlines, and error statuses."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from caliper.core.errors import BackendOverloaded, InvalidInput
from caliper.pipeline.work.log_subject import log_subject
from caliper.serving.audit import Audit, AuditRecord
from caliper.serving.calls import Context, begin
from caliper.serving.permissions import RULES, Rule
from caliper.serving.statuses import abort, status, status_of
from caliper.serving.tokens import Caller, Role, TokenFile

_LOG = logging.getLogger(__name__)
_ANONYMOUS = Caller("", Role.ADMIN)
_UNPARSABLE = object()
"""Placeholder for a request that cannot be parsed; gRPC itself would answer UNKNOWN."""
_LONGEST = 600.0
"""The most seconds that a caller can ask for, unless calls without a deadline get more."""
_LAST_WRITE = 1.0
"""Seconds for the response that is being sent when a stream has to end."""

# A string, because the class is generic only in its type stubs.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Behaviour = Callable[[Any, Context], Any]

# By (requests stream, responses stream): the attribute with the behaviour, and the factory.
_SHAPES: dict[tuple[bool, bool], tuple[str, Callable[..., Handler]]] = {
    (False, False): ("unary_unary", grpc.unary_unary_rpc_method_handler),
    (False, True): ("unary_stream", grpc.unary_stream_rpc_method_handler),
    (True, False): ("stream_unary", grpc.stream_unary_rpc_method_handler),
    (True, True): ("stream_stream", grpc.stream_stream_rpc_method_handler),
}


class _CallRefusedError(Exception):
    """A call that is refused."""

    def __init__(self, code: grpc.StatusCode, message: str, caller: Caller = _ANONYMOUS) -> None:
        self.code, self.message, self.caller = code, message, caller
        super().__init__(message)


class Guard(grpc.aio.ServerInterceptor):
    """Authorizes calls, bounds them per caller, enforces deadlines, and turns errors into statuses.
    Changes and refusals go to `audit`.

    Without `tokens`, every caller may call every method that has a rule. `deadline` (seconds)
    applies to calls without one.
    """

    def __init__(self, tokens: TokenFile | None, deadline: float, audit: Audit) -> None:
        self._tokens, self._audit = tokens, audit
        self._deadline = deadline
        self._lasting: set[asyncio.Timeout] = set()
        self._in_flight: Counter[tuple[str, Rule]] = Counter()
        self._stopping = False

    def end_streams(self) -> None:
        """End all long-lived streams, and any that begin later."""
        self._stopping = True
        for limit in self._lasting:
            if not limit.expired():
                limit.reschedule(asyncio.get_running_loop().time())

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """The guarded handler of a call, or a handler that refuses it."""
        method = handler_call_details.method
        try:
            caller, rule = self._authorize(handler_call_details)
        except _CallRefusedError as refusal:
            return self._refusing(method, refusal)
        handler = await continuation(handler_call_details)
        if handler is None:
            # gRPC answers UNIMPLEMENTED, which tells clients to fall back to an older API.
            return None
        if rule is None:
            code, message = grpc.StatusCode.PERMISSION_DENIED, f"nobody may call {method}"
            return self._refusing(method, _CallRefusedError(code, message, caller))
        return self._guarded(handler, rule, method, caller)

    def _authorize(self, details: grpc.HandlerCallDetails) -> tuple[Caller, Rule | None]:
        caller = _ANONYMOUS if self._tokens is None else _caller(self._tokens, details)
        rule = RULES.get(details.method)
        if rule is not None and not caller.role.includes(rule.role):
            message = f"{caller.name} has the role {caller.role}; this needs {rule.role}"
            raise _CallRefusedError(grpc.StatusCode.PERMISSION_DENIED, message, caller)
        return caller, rule

    def _refusing(self, method: str, refusal: _CallRefusedError) -> Handler:
        """A handler that refuses a call of any shape before reading its messages."""

        async def refuse(_: Any, context: Context) -> None:
            record = AuditRecord(method, refusal.caller)
            record.refuse(refusal.code.name)
            with self._audit.call(record, context):
                await abort(context, status(refusal.code, refusal.message))

        return grpc.stream_stream_rpc_method_handler(refuse)

    def _guarded(self, handler: Handler, rule: Rule, method: str, caller: Caller) -> Handler:
        shape = bool(handler.request_streaming), bool(handler.response_streaming)
        name, make = _SHAPES[shape]
        behaviour: Behaviour = getattr(handler, name)

        async def answering(request: Any, context: Context) -> Any:
            record = AuditRecord(method, caller)
            async with self._around(request, rule, record, context):
                response = await behaviour(_checked(request, record), context)
                record.note_response(response)
                return response

        async def streaming(request: Any, context: Context) -> None:
            record = AuditRecord(method, caller)
            async with self._around(request, rule, record, context):
                await _stream(behaviour(_checked(request, record), context), context)

        return make(
            streaming if handler.response_streaming else answering,
            request_deserializer=_safe_parser(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )

    @asynccontextmanager
    async def _around(
        self, request: Any, rule: Rule, record: AuditRecord, context: Context
    ) -> AsyncIterator[None]:
        # None without a deadline, which gRPC's types omit.
        seconds: float | None = context.time_remaining()
        if not rule.is_stream:
            deadline = self._deadline if seconds is None else seconds
            seconds = min(deadline, max(_LONGEST, self._deadline))
        limit = asyncio.timeout(0 if rule.is_stream and self._stopping else seconds)
        record.name_object(request)
        with self._audit.call(record, context), log_subject(getattr(request, "run", "")):
            try:
                async with limit:
                    begin(limit.when(), record.caller)
                    with self._tracked(limit, rule, record):
                        yield
            except grpc.aio.AbortError:
                raise
            except Exception as error:  # noqa: BLE001 - the table of failures covers every class
                await abort(context, self._status(error, rule, limit))

    @contextmanager
    def _tracked(self, limit: asyncio.Timeout, rule: Rule, record: AuditRecord) -> Iterator[None]:
        """Count the call, and track the limit of a long-lived stream, so that `end_streams` can
        move it. Raises BackendOverloaded if the caller has too many such calls in flight.
        """
        caller = record.caller.name
        if self._in_flight[caller, rule] >= rule.in_flight:
            record.refuse(grpc.StatusCode.RESOURCE_EXHAUSTED.name)
            message = f"one caller may have {rule.in_flight} such calls in flight"
            raise BackendOverloaded(f"{message}; try again when one has ended")
        self._in_flight[caller, rule] += 1
        if rule.is_stream:
            self._lasting.add(limit)
        try:
            yield
        finally:
            self._in_flight[caller, rule] -= 1
            self._lasting.discard(limit)

    def _status(self, error: Exception, rule: Rule, limit: asyncio.Timeout) -> Any:
        if isinstance(error, TimeoutError) and limit.expired():
            if rule.is_stream and self._stopping:
                return status(grpc.StatusCode.UNAVAILABLE, "the service is stopping; call again")
            return status(grpc.StatusCode.DEADLINE_EXCEEDED, "the deadline of the call passed")
        answer = status_of(error)
        if answer.code == grpc.StatusCode.INTERNAL.value[0]:
            _LOG.error("a call ended in an internal error", exc_info=error)
        return answer


def _caller(tokens: TokenFile, details: grpc.HandlerCallDetails) -> Caller:
    values = [value for key, value in details.invocation_metadata if key == "authorization"]
    scheme, _, token = str(values[0]).partition(" ") if len(values) == 1 else ("", "", "")
    caller = tokens.caller(token.strip()) if scheme.lower() == "bearer" else None
    if caller is None:
        message = "a valid bearer token is needed (metadata authorization: Bearer TOKEN)"
        raise _CallRefusedError(grpc.StatusCode.UNAUTHENTICATED, message)
    return caller


def _safe_parser(parse: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """The parser, but returning `_UNPARSABLE` for DecodeError: `_checked` raises later."""
    if parse is None:
        return None

    def parsing(data: bytes) -> Any:
        try:
            return parse(data)
        except DecodeError:
            return _UNPARSABLE

    return parsing


def _checked(request: Any, record: AuditRecord) -> Any:
    """The request, or a stream of requests that raises at the first unparsable one, and whose
    requests name the object of `record`.

    Raises InvalidInput if a single request is unparsable.
    """
    if isinstance(request, AsyncIterator):
        return _each(request, record)
    if request is _UNPARSABLE:
        raise InvalidInput("the request is not a message of this method")
    return request


async def _each(requests: AsyncIterator[Any], record: AuditRecord) -> AsyncIterator[Any]:
    async for request in requests:
        record.name_object(request)
        yield _checked(request, record)


async def _stream(responses: Any, context: Context) -> None:
    """Send the responses of a generator method, or await a method that writes by itself."""
    if inspect.isawaitable(responses):
        await responses
        return
    async with aclosing(responses) as stream:
        async for response in stream:
            await _write(context, response)


async def _write(context: Context, response: Any) -> None:
    """Send one response. One that is being sent when the stream ends is waited for, but not for
    long: a call whose write was cancelled does not always end in gRPC.
    """
    write = asyncio.ensure_future(context.write(response))
    try:
        await asyncio.shield(write)
    except asyncio.CancelledError:
        with suppress(Exception):
            async with asyncio.timeout(_LAST_WRITE):
                await write
        raise
