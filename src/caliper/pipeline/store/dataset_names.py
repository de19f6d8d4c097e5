"""Names of datasets: NAME@VERSION, which stands for one digest for ever.

`datasets/names/<name>/<version>.json`   the dataset's digest, and its benchmark
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from caliper.core.errors import AlreadyExists, InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.run import SCHEMA
from caliper.pipeline.store.runs import read_as
from caliper.pipeline.store.supplies import check_digest
from caliper.ports.storage import ObjectStore

_PREFIX = "datasets/names/"
_PART = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_NAME = re.compile(f"({_PART})@({_PART})", re.ASCII)
_PAGE, _LARGEST_PAGE = 50, 500


@dataclass(frozen=True, slots=True)
class NamedDataset:
    """A dataset of a benchmark, by its digest, and its name."""

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


async def name_dataset(store: ObjectStore, named: NamedDataset) -> None:
    """Give a dataset a name. Raises AlreadyExists if another one has it, StoreUnavailable."""
    content = {"schema": SCHEMA, "dataset": named.dataset, "benchmark": named.benchmark}
    if await store.replace(_key(named.name), canonical_json(content), None) is None:
        await check_free(store, named.name, named.dataset)


async def check_free(store: ObjectStore, name: str, dataset: str) -> None:
    """Raise AlreadyExists if a name stands for another dataset than this one; StoreUnavailable."""
    found = await find_dataset(store, name)
    if found is not None and found.dataset != dataset:
        raise AlreadyExists(
            f"{name} stands for other content ({found.dataset}, this is {dataset}): give another "
            "version"
        )


async def find_dataset(store: ObjectStore, name: str) -> NamedDataset | None:
    """The dataset of that name; None if there is none. Raises DataLoss, StoreUnavailable."""

    def decode(fields: dict[str, Any]) -> NamedDataset:
        dataset = check_digest(str(fields.get("dataset")), "dataset")
        return NamedDataset(name, dataset, str(fields.get("benchmark")))

    return await read_as(store, _key(name), decode)


async def list_datasets(
    store: ObjectStore, size: int = 0, token: str = ""
) -> tuple[list[NamedDataset], str]:
    """A page of the datasets with names, and the token of the next page, empty on the last.

    Raises InvalidInput for an invalid token, DataLoss, StoreUnavailable.
    """
    if token and not token.startswith(_PREFIX):
        raise InvalidInput("not a valid page token", field="page_token")
    limit = min(size or _PAGE, _LARGEST_PAGE)
    found: list[NamedDataset] = []
    last = ""
    async for key in store.list(_PREFIX):
        if key <= token:
            continue
        if len(found) == limit:
            return found, last
        name = "@".join(key.removeprefix(_PREFIX).removesuffix(".json").rsplit("/", 1))
        named = await find_dataset(store, name)
        last = key
        if named is not None:
            found.append(named)
    return found, ""


async def dataset_digest(store: ObjectStore, text: str, field: str) -> str:
    """The digest of the dataset that a request names; the text itself if that is no name.

    Raises InvalidInput naming `field` for a name that no dataset has, DataLoss, StoreUnavailable.
    """
    if "@" not in text:
        return text
    found = await find_dataset(store, check_dataset_name(text, field))
    if found is None:
        raise InvalidInput(f"no dataset is named {text}", field=field)
    return found.dataset


def _key(name: str) -> str:
    return f"{_PREFIX}{name.replace('@', '/')}.json"
