"""Names of datasets: NAME@VERSION, which stands for one digest forever.

`datasets/names/<name>/<version>.json`   the dataset's digest, its benchmark, and the name's owners

Anyone giving a dataset the same name becomes another owner of the name. A name without owners,
given without tokens, belongs to everybody and stays so.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import AlreadyExists, DataLoss, InvalidInput
from caliper.pipeline.store.changes import Fields, change_json
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.runs import read_as, read_json
from caliper.pipeline.store.supplies import check_digest
from caliper.ports.storage import ObjectStore

_LOG = logging.getLogger(__name__)
_PREFIX = "datasets/names/"
_PART = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_NAME = re.compile(f"({_PART})@({_PART})", re.ASCII)
_PAGE, _LARGEST_PAGE = 50, 500


@dataclass(frozen=True, slots=True)
class NamedDataset:
    """A dataset of a benchmark, by its digest and name."""

    name: str
    dataset: str
    benchmark: str


def is_dataset_name(text: str) -> bool:
    """Whether a text is NAME@VERSION."""
    return _NAME.fullmatch(text) is not None


def check_dataset_name(text: str, field: str) -> str:
    """Return `text` if it is NAME@VERSION. Raises InvalidInput naming `field` if not."""
    if not is_dataset_name(text):
        raise InvalidInput(
            "expected NAME@VERSION, each of at most 100 letters, digits, full stops, dashes and "
            f"underscores, found {text!r:.210}",
            field=field,
        )
    return text


async def name_dataset(store: ObjectStore, named: NamedDataset, ownership: Ownership) -> None:
    """Give a dataset a name. Raises AlreadyExists if another one has it, StoreUnavailable."""

    def with_name(before: Fields) -> Fields:
        _check_same(before, named.name, named.dataset, ownership)
        if before:
            return ownership.owned(before) if "owners" in before else before
        return ownership.owned({"dataset": named.dataset, "benchmark": named.benchmark})

    await change_json(store, _key(named.name), with_name)


async def check_free(store: ObjectStore, name: str, dataset: str, ownership: Ownership) -> None:
    """Raise AlreadyExists if a name stands for a dataset other than this one; DataLoss,
    StoreUnavailable.
    """
    _check_same(await read_json(store, _key(name)) or {}, name, dataset, ownership)


def _check_same(fields: Fields, name: str, dataset: str, ownership: Ownership) -> None:
    if (digest := fields.get("dataset", dataset)) != dataset:
        content = f" ({digest}, this is {dataset})" if _is_visible(fields, ownership) else ""
        raise AlreadyExists(f"{name} stands for other content{content}: give another version")


def _is_visible(fields: Fields, ownership: Ownership) -> bool:
    return "owners" not in fields or ownership.sees(fields)


async def find_dataset(store: ObjectStore, name: str, ownership: Ownership) -> NamedDataset | None:
    """The dataset of that name; None if there is none that the caller may see. Raises DataLoss,
    StoreUnavailable.
    """

    def decode(fields: dict[str, Any]) -> NamedDataset | None:
        if not _is_visible(fields, ownership):
            return None
        dataset = check_digest(str(fields.get("dataset")), "dataset")
        return NamedDataset(name, dataset, str(fields.get("benchmark")))

    return await read_as(store, _key(name), decode)


async def list_datasets(
    store: ObjectStore, ownership: Ownership, size: int = 0, token: str = ""
) -> tuple[list[NamedDataset], str]:
    """A page of the datasets with names that the caller may see, and the token of the next page,
    empty on the last. Unreadable names are left out.

    Raises InvalidInput for an invalid token, StoreUnavailable.
    """
    if token and not token.startswith(_PREFIX):
        raise InvalidInput("not a valid page token", field="page_token")
    limit = min(size or _PAGE, _LARGEST_PAGE)
    page: list[NamedDataset] = []
    last = ""
    async for key in store.list(_PREFIX):
        if key <= token:
            continue
        name = "@".join(key.removeprefix(_PREFIX).removesuffix(".json").rsplit("/", 1))
        try:
            named = await find_dataset(store, name, ownership)
        except DataLoss as error:
            _LOG.warning("dataset %s is not listed: %s", name, error)
            continue
        if named is None:
            continue
        # Neither a token nor an empty page reveals a name that the caller may not see.
        if len(page) == limit:
            return page, last
        page.append(named)
        last = key
    return page, ""


async def dataset_digest(store: ObjectStore, text: str, field: str, ownership: Ownership) -> str:
    """The digest of the dataset that a request names; the text itself if it is not a name.

    Raises InvalidInput naming `field` for a name without a dataset that the caller may see,
    DataLoss, StoreUnavailable.
    """
    if "@" not in text:
        return text
    named = await find_dataset(store, check_dataset_name(text, field), ownership)
    if named is None:
        raise InvalidInput(f"no dataset is named {text}", field=field)
    return named.dataset


def _key(name: str) -> str:
    return f"{_PREFIX}{name.replace('@', '/')}.json"
