"""The methods of gRPC services as their descriptors have them: for callers, and for servers."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass


def service_stub(service: ServiceDescriptor, channel: grpc.aio.Channel) -> Any:
    """An object whose attributes call the methods of a service."""
    calls: dict[str, Any] = {}
    for method in service.methods:
        connect: Callable[..., Any] = getattr(channel, _shape(method))
        calls[method.name] = connect(
            f"/{service.full_name}/{method.name}",
            request_serializer=GetMessageClass(method.input_type).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
    return SimpleNamespace(**calls)


def generic_handler(service: ServiceDescriptor, servicer: object) -> grpc.GenericRpcHandler:
    """The handler that answers a service by the equally named methods of `servicer`. Those that
    it lacks are UNIMPLEMENTED.
    """
    handlers: dict[str, Any] = {}
    for method in service.methods:
        if hasattr(servicer, method.name):
            make: Callable[..., Any] = getattr(grpc, f"{_shape(method)}_rpc_method_handler")
            handlers[method.name] = make(
                getattr(servicer, method.name),
                request_deserializer=GetMessageClass(method.input_type).FromString,
                response_serializer=GetMessageClass(method.output_type).SerializeToString,
            )
    return grpc.method_handlers_generic_handler(service.full_name, handlers)


def _shape(method: MethodDescriptor) -> str:
    """The name that gRPC has for the kinds of its request and response, such as `unary_stream`."""
    streams = (method.client_streaming, method.server_streaming)
    return "_".join("stream" if many else "unary" for many in streams)
