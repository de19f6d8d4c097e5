"""What an API server keeps in its etcd: seen as a whole, and put back to what it was, which is
cheaper than another server, and than deleting what there is by the API.
"""

from __future__ import annotations

import base64
import shutil
import time
from collections.abc import Mapping
from typing import Any

import urllib3
from tests.servers.kube_api import STORE, KubeApi

_ALL = base64.b64encode(b"\0").decode()
# What the API server makes last when it starts.
_LAST = base64.b64encode(b"/registry/services/specs/default/kubernetes").decode()
_AT_ONCE = 100
"""Changes in a transaction, of which etcd takes 128."""

Entries = Mapping[str, str]
"""The values by their keys, both as base64."""


def at_start(api: KubeApi) -> Entries:
    """What a server that is ready has made for itself, once that is complete."""
    while _LAST not in (found := _entries(api)):
        time.sleep(0.05)
    return found


def put_back(api: KubeApi, wanted: Entries) -> None:
    """Nothing else is kept any more, nor known to kubectl. No controller may be at work: it would
    see every deletion by itself, and make anew what belongs to what is still there.
    """
    shutil.rmtree(api.discovered, ignore_errors=True)
    there = _entries(api)
    changes: list[dict[str, Any]] = [
        *({"requestDeleteRange": {"key": key}} for key in there.keys() - wanted.keys()),
        *(
            {"requestPut": {"key": key, "value": value}}
            for key, value in wanted.items()
            if there.get(key) != value
        ),
    ]
    for first in range(0, len(changes), _AT_ONCE):
        _call(api, "txn", {"success": changes[first : first + _AT_ONCE]})


def _entries(api: KubeApi) -> Entries:
    found = _call(api, "range", {"key": _ALL, "range_end": _ALL})["kvs"]
    return {each["key"]: each["value"] for each in found}


def _call(api: KubeApi, method: str, body: object) -> dict[str, Any]:
    url = (api.kubeconfig.parent / STORE).read_text("ascii")
    with urllib3.PoolManager() as pool:
        answer = pool.request("POST", f"{url}/v3/kv/{method}", json=body)
    assert answer.status == 200, answer.data.decode()
    return dict(answer.json())
