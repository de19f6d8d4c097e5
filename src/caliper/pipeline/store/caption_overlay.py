"""A store of captions for work outside the runs of the store."""

from __future__ import annotations

from caliper.pipeline.store.store_view import StoreView
from caliper.ports.storage import ObjectStore

_CAPTIONS = "captions/"


class CaptionOverlay(StoreView):
    """A view that has captions in `store`, and all else in `own`."""

    def __init__(self, store: ObjectStore, own: ObjectStore) -> None:
        self._store, self._own = store, own

    def _place(self, key: str) -> tuple[ObjectStore, str]:
        return self._store if key.startswith(_CAPTIONS) else self._own, key
