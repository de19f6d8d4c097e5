"""Changes of an object that others write at the same time."""

from itertools import count
from typing import Any

import pytest
from tests.fakes.stores import MemoryStore

from caliper.core.errors import StoreUnavailable
from caliper.pipeline.store.changes import TRIES, change_json


async def test_a_change_that_others_always_precede_is_given_up() -> None:
    store, writes = MemoryStore(), count()

    def preceded(fields: dict[str, Any]) -> dict[str, Any]:
        store.objects["places.json"] = b"%d" % next(writes)
        return {**fields, "run": 1}

    with pytest.raises(StoreUnavailable, match=r"^places\.json: too many concurrent changes"):
        await change_json(store, "places.json", preceded)
    assert next(writes) == TRIES
