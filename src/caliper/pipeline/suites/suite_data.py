"""The datasets of a suite: those that the person applying it may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from caliper.core.errors import InvalidInput
from caliper.core.suites import Suite
from caliper.pipeline.store.dataset_names import dataset_digest, is_dataset_name
from caliper.pipeline.store.dataset_pushes import may_use
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.supplies import is_digest
from caliper.ports.storage import ObjectStore

_FIELDS = ("data", "qa", "qa_replies")


async def with_digests(suite: Suite, store: ObjectStore, ownership: Ownership) -> Suite:
    """The suite with the digests of the datasets that it names. Paths stay.

    Raises InvalidInput naming the field of a dataset that the caller cannot see,
    StoreUnavailable.
    """
    run = suite.values.get("run")
    parts = run.get("benchmarks") if isinstance(run, dict) else None
    if not isinstance(run, dict) or not isinstance(parts, dict):
        return suite
    benchmarks = {
        name: await _part(part, f"benchmarks.{name}", store, ownership)
        for name, part in parts.items()
    }
    return replace(suite, values={**suite.values, "run": {**run, "benchmarks": benchmarks}})


async def _part(part: Any, place: str, store: ObjectStore, ownership: Ownership) -> Any:
    if not isinstance(part, Mapping):
        return part
    digests = {}
    for field in _FIELDS:
        text = part.get(field)
        if not isinstance(text, str) or not (is_dataset_name(text) or is_digest(text)):
            continue
        digests[field] = await dataset_digest(store, text, f"{place}.{field}", ownership)
        if not await may_use(store, digests[field], ownership):
            raise InvalidInput("no such dataset in the store", field=f"{place}.{field}")
    return {**part, **digests}
