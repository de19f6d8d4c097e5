"""The registry of data sources, for datasets named by scheme instead of a path."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.adapters.datasets.plugin_source import PluginSource
from caliper.core.errors import InvalidInput, UnknownName
from caliper.lazy import lazy_module
from caliper.plugins import PluginGroup, blame, no_function
from caliper.ports.data_sources import DataSource

if TYPE_CHECKING:
    from caliper.adapters.datasets import hub
    from caliper.adapters.stores import dataset_bucket
    from caliper.wiring import client_settings, settings, store_access
else:
    hub = lazy_module("caliper.adapters.datasets.hub")
    dataset_bucket = lazy_module("caliper.adapters.stores.dataset_bucket")
    client_settings = lazy_module("caliper.wiring.client_settings")
    store_access = lazy_module("caliper.wiring.store_access")
    settings = lazy_module("caliper.wiring.settings")

_TRUE = frozenset({"1", "ON", "YES", "TRUE"})
# A path drops one of the two slashes of a URL.
_NAME = re.compile(r"([a-z][a-z0-9_+.-]+):(/{0,2})([^/].*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DataName:
    """A dataset by name: `scheme:name`, or `scheme://name` if `is_url`."""

    scheme: str
    name: str
    is_url: bool = False

    def __str__(self) -> str:
        return f"{self.scheme}:{'//' if self.is_url else ''}{self.name}"

    def with_name(self, name: str) -> DataName:
        """Another name of the same scheme."""
        return replace(self, name=name)


def data_name(path: Path) -> DataName | None:
    """The dataset name in the form of a path; None for a real path.

    Raises UnknownName for a URL with an unknown scheme.
    """
    match = _NAME.fullmatch(str(path))
    if match is None:
        return None
    schemes = (*SOURCES, *DATASETS.names)
    if match[1] not in schemes and not match[2]:
        return None
    if match[1] not in schemes:
        raise UnknownName("data source", match[1], schemes)
    return DataName(match[1], match[3], is_url=bool(match[2]))


def _hub() -> DataSource:
    limits = settings.read_settings(settings.ModelSettings)
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in _TRUE
    folder = cache_folder() / "hub"
    return hub.HubDatasets(folder, limits.data_bytes, hub_endpoint(), offline=offline)


def hub_endpoint() -> str | None:
    """The Hub that `HF_ENDPOINT` names; None for the public one."""
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or None


def _bucket() -> DataSource:
    limits = settings.read_settings(settings.ModelSettings)
    client = settings.read_settings(client_settings.ClientSettings)
    if not client.store.startswith(("http://", "https://")):
        field = settings.variable(client_settings.ClientSettings, "store")
        raise InvalidInput(
            "s3:// needs the URL of an S3 endpoint here", file="environment", field=field
        )
    access = store_access.store_access(client)
    return dataset_bucket.DatasetBuckets(cache_folder() / "s3", limits.data_bytes, access)


SOURCES: Mapping[str, Callable[[], DataSource]] = {"hf": _hub, "s3": _bucket}
"""Functions that open the source of each scheme."""


DATASETS = PluginGroup[Callable[[Path], DataSource]]("dataset", SOURCES, no_function)
"""Sources of other packages, by scheme: functions of the folder for copies."""


def open_source(scheme: str) -> DataSource:
    """The source of a known scheme. Raises InvalidInput naming a wrong variable, or the package of
    a source that cannot be used.
    """
    if scheme in SOURCES:
        DATASETS.check_own(scheme)
        return SOURCES[scheme]()
    plugin, open_declared = DATASETS.label(scheme), DATASETS.load(scheme)
    with blame(plugin):
        return PluginSource(open_declared(cache_folder() / scheme), plugin)


def cache_folder() -> Path:
    """The folder for the copies of all sources. Raises what `read_settings` raises."""
    folder = settings.read_settings(settings.ModelSettings).data_cache
    if folder is not None:
        return folder.absolute()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "caliper", "datasets")


def data_bytes() -> int:
    """The maximum size of a dataset in bytes. Raises what `read_settings` raises."""
    return settings.read_settings(settings.ModelSettings).data_bytes
