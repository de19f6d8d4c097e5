"""`python -m services health HOST:PORT`: check whether the service at that address is ready.

For container health checks by platforms that cannot probe gRPC: an image without a shell has no
other program. The exit code is 0 if the service is ready, 1 if it is not or does not answer, and
2 for an invalid address.
"""

from __future__ import annotations

import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from caliper.core.errors import InvalidInput
from caliper.serving.addresses import Address

NOT_READY, BAD_INPUT = 1, 2
PATIENCE = 5.0
"""Seconds to wait for an answer."""


def main(arguments: list[str]) -> int:
    """Probe the address in plaintext, as HEALTH_LISTEN expects. Returns the exit code."""
    try:
        address = Address.parse(" ".join(arguments), "health")
    except InvalidInput as error:
        sys.stderr.write(f"Error: {error}\n")
        return BAD_INPUT
    with grpc.insecure_channel(str(address)) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            # The published types cover only the asyncio client.
            response = stub.Check(  # type: ignore[attr-defined]
                health_pb2.HealthCheckRequest(), timeout=PATIENCE
            )
        except grpc.RpcError as error:
            sys.stderr.write(f"Error: {address} does not answer: {error}\n")
            return NOT_READY
    if response.status != health_pb2.HealthCheckResponse.SERVING:
        sys.stderr.write(f"{address} is not ready\n")
        return NOT_READY
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
