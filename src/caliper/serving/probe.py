"""`python -m services health HOST:PORT`: is the service ready that answers health there?

For healthchecks of containers by whoever cannot ask by gRPC: an image without a shell has no other
program. It leaves with 0 when the service is ready, 1 when it is not or nobody answers, 2 for what
is no address of this machine.
"""

from __future__ import annotations

import sys

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from caliper.core.errors import InvalidInput
from caliper.serving.addresses import Address

NOT_READY, BAD_INPUT = 1, 2
PATIENCE = 5.0
"""Seconds for an answer."""


def main(given: list[str]) -> int:
    """Ask there, in plaintext, which is what HEALTH_LISTEN answers. Returns the exit code."""
    try:
        address = Address.parse(" ".join(given), "health")
    except InvalidInput as error:
        sys.stderr.write(f"Error: {error}\n")
        return BAD_INPUT
    with grpc.insecure_channel(str(address)) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            # Its published types know the client of asyncio alone.
            told = stub.Check(  # type: ignore[attr-defined]
                health_pb2.HealthCheckRequest(), timeout=PATIENCE
            )
        except grpc.RpcError as error:
            sys.stderr.write(f"Error: {address} does not answer: {error}\n")
            return NOT_READY
    if told.status != health_pb2.HealthCheckResponse.SERVING:
        sys.stderr.write(f"{address} is not ready\n")
        return NOT_READY
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
