"""The verbs on this machine, as functions."""

from __future__ import annotations

from caliper.library.client import Client


def connect(server: str) -> Client:
    """The same verbs on the installation whose gateway is at `server`: host:port, or
    https://host:port for TLS. CALIPER_STORE names the store that data are pushed to.

    >>> caliper.connect("localhost:50051")
    Client(server='localhost:50051')
    """
    return Client(server)


_HERE = Client()
evaluate, aevaluate = _HERE.evaluate, _HERE.aevaluate
plan, aplan = _HERE.plan, _HERE.aplan
load, aload = _HERE.load, _HERE.aload
compare, acompare = _HERE.compare, _HERE.acompare
gate, agate = _HERE.gate, _HERE.agate
leaderboard, aleaderboard = _HERE.leaderboard, _HERE.aleaderboard
