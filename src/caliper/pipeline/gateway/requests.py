"""Resolves the names in a request for an evaluation: datasets, and the suite it is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from caliper.core.errors import InvalidInput, within
from caliper.core.owners import Owner
from caliper.core.suites import check_suite_name
from caliper.pipeline.planning.resolution import EvaluationRequest
from caliper.pipeline.store.dataset_names import dataset_digest
from caliper.pipeline.store.owners import Ownership, read_owners, suite_owners
from caliper.ports.storage import ObjectStore


async def by_digest(
    store: ObjectStore, request: EvaluationRequest, ownership: Ownership
) -> EvaluationRequest:
    """The request with the digests of datasets that it names. Raises what `dataset_digest` does."""
    parts = []
    for place, part in enumerate(request.benchmarks):
        try:
            digests: dict[str, Any] = {
                field: await dataset_digest(store, text, field, ownership)
                for field in ("data", "qa_data", "qa_replies")
                if (text := getattr(part, field)) is not None
            }
        except InvalidInput as error:
            raise within(f"benchmarks[{place}]", error) from error
        parts.append(replace(part, **digests))
    return replace(request, benchmarks=tuple(parts))


async def owners_of_suite(store: ObjectStore, suite: str, ownership: Ownership) -> Sequence[Owner]:
    """The owners of the suite that a request is for; none without a suite that the caller may see.

    Raises InvalidInput for a text that cannot name a suite, StoreUnavailable.
    """
    if not suite:
        return ()
    try:
        key = suite_owners(check_suite_name(suite))
    except InvalidInput as error:
        raise InvalidInput(error.message, field="suite") from error
    return await read_owners(store, key) if await ownership.permits(store, key) else ()
