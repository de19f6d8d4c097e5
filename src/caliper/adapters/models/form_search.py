"""The search for the form of schemas that an endpoint obeys: it is tried out once per schema."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from huggingface_hub.errors import HfHubHTTPError

from caliper.adapters.models.schema_forms import Form, violates_schema
from caliper.core.keys import canonical_json
from caliper.ports.models import Completion

Request = Mapping[str, Any]
Post = Callable[[Request, Mapping[str, Any]], Awaitable[Completion]]
"""Posts a request, with additions to its body, and times it."""
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class FormSearch:
    """Sends requests through `post` in the form that the endpoint obeys, once that is known.

    Raises what `post` raises: HfHubHTTPError for every status of an error.
    """

    def __init__(self, post: Post) -> None:
        self._post = post
        self._form_by_schema: dict[bytes, Form | None] = {}
        self._searches: dict[bytes, asyncio.Event] = {}
        self._failed_once: set[bytes] = set()

    async def complete(
        self, request: Request, schema: Mapping[str, Any], forms: Sequence[Form]
    ) -> Completion:
        """One completion. The first call with a schema tries the forms in their order."""
        key = canonical_json(schema)
        if key not in self._form_by_schema:
            search = self._searches.get(key)
            if search is None:
                return await self._search(key, request, schema, forms)
            # Only once: if that call found none, all who waited go on at the same time.
            await search.wait()
        if key not in self._form_by_schema:
            return await self._find(key, request, schema, forms)
        form = self._form_by_schema[key]
        return await self._post(request, _NOTHING if form is None else form(schema))

    async def _search(
        self, key: bytes, request: Request, schema: Mapping[str, Any], forms: Sequence[Form]
    ) -> Completion:
        """As `_find`; calls that start meanwhile wait for it."""
        search = self._searches[key] = asyncio.Event()
        try:
            return await self._find(key, request, schema, forms)
        finally:
            del self._searches[key]
            search.set()

    async def _find(
        self, key: bytes, request: Request, schema: Mapping[str, Any], forms: Sequence[Form]
    ) -> Completion:
        """The reply to the first form that the endpoint obeys. Remembers that form, or None if it
        obeys none; a form that fails counts as not obeyed when it fails again in a later search.
        """
        ignored: Completion | None = None
        failed, failed_before = False, key in self._failed_once
        for form in forms:
            try:
                completion = await self._post(request, form(schema))
            except HfHubHTTPError as error:
                status = error.response.status_code
                # llama-cpp-python returns 500 for an unknown form. A server that returns 500 for
                # the last form too is in trouble.
                if status not in {400, 422} and (status != 500 or form is forms[-1]):
                    raise
                failed = failed or status == 500
                continue
            if not violates_schema(completion, schema):
                self._remember(key, form, failed=failed, failed_before=failed_before)
                return completion
            ignored = completion
        completion = await self._post(request, _NOTHING) if ignored is None else ignored
        # Only the success without a schema shows that the schema was the problem.
        self._remember(key, None, failed=failed, failed_before=failed_before)
        return completion

    def _remember(
        self, key: bytes, form: Form | None, *, failed: bool, failed_before: bool
    ) -> None:
        """Remember the form for a schema, unless trouble that passes may have hidden a stronger."""
        if not failed:
            self._form_by_schema[key] = form
        elif failed_before:
            # Another call may have found the stronger one meanwhile.
            self._form_by_schema.setdefault(key, form)
        else:
            self._failed_once.add(key)
