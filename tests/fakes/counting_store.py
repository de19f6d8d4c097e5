from collections import Counter
from collections.abc import Callable
from typing import Any

from caliper.ports.storage import DeletableStore

REQUESTS = {
    "put": "PUT",
    "replace": "PUT",
    "get": "GET",
    "get_file": "GET",
    "get_range": "GET",
    "version": "HEAD",
    "size": "HEAD",
    "delete": "DELETE",
    "list": "LIST",
}


class CountingStore:
    """Wraps a store and records every call: kind of request and key."""

    def __init__(self, store: DeletableStore) -> None:
        self._store = store
        self.calls: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            keys = arguments if name == "delete" else arguments[:1]
            self.calls += [(REQUESTS[name], key) for key in keys]
            return getattr(self._store, name)(*arguments, **named)

        return call

    def most(self, method: str, before: str) -> int:
        """The highest count of an operation on any one key with a prefix."""
        found = Counter(key for how, key in self.calls if how == method and key.startswith(before))
        return max(found.values(), default=0)

    def count(self, method: str, before: str) -> int:
        return sum(how == method and key.startswith(before) for how, key in self.calls)
