"""Datasets on the Hugging Face Hub, copied file by file into a folder per commit.

The copies are plain files, not links into the cache of huggingface_hub: media are never read
through links. A complete copy has a mark beside it, and needs no network any more.
"""

from __future__ import annotations

import re
import threading
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from caliper.adapters.files import write_atomically
from caliper.adapters.hub_errors import HubRequest, hub_errors_translated
from caliper.adapters.transfers import MEDIA_SUFFIXES, check_room
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.lazy import lazy_module
from caliper.ports.data_sources import Transferred

if TYPE_CHECKING:
    import huggingface_hub
    from huggingface_hub import utils as hub_utils
else:
    # It takes long to import.
    huggingface_hub = lazy_module("huggingface_hub")
    hub_utils = lazy_module("huggingface_hub.utils")

_SYNTAX = "hf:owner/name[@revision][/path]"
_OFFLINE = "; with HF_HUB_OFFLINE=1 the cache is enough, if it was fetched before"
_NAME = re.compile(
    r"(?:datasets/)?(?P<repository>[\w.-]+/[\w.-]+)"
    r"(?:@(?P<revision>refs/(?:pr|convert)/[^/]+|[^/]+))?(?:/(?P<path>.+))?"
)
_COMMIT = re.compile("[0-9a-f]{40}")
_DEFAULT_REVISION = "main"
_SECONDS = 30.0
_BYTES_BAR = "huggingface_hub.snapshot_download"
"""The name of huggingface_hub's progress bar for bytes on the disk."""


@dataclass(frozen=True, slots=True)
class _HubName:
    repository: str
    revision: str
    path: str

    @classmethod
    def parse(cls, name: str) -> _HubName:
        match = _NAME.fullmatch(name)
        if match is None or ".." in (match["path"] or "").split("/"):
            raise InvalidInput(f"not a dataset on the Hub; expected {_SYNTAX}", file=f"hf:{name}")
        path = (match["path"] or "").strip("/")
        return cls(match["repository"], match["revision"] or _DEFAULT_REVISION, path)

    def __str__(self) -> str:
        return f"{self.repository}@{self.revision}" + (f"/{self.path}" if self.path else "")


@dataclass(frozen=True, slots=True)
class HubDatasets:
    """ports.data_sources.DataSource of the Hub at `endpoint`, None for the public one.

    Copies are kept in `folder`; a dataset of more than `most_bytes` is refused. `offline` asks the
    Hub nothing. The token is the one that huggingface_hub finds.
    """

    folder: Path
    most_bytes: int
    endpoint: str | None = None
    offline: bool = False

    def pinned(self, name: str) -> str:
        parsed = _HubName.parse(name)
        if _COMMIT.fullmatch(parsed.revision):
            return str(parsed)
        note = self._copies(parsed) / "refs" / parsed.revision
        if self.offline:
            commit = _read_commit(note)
            if commit is None:
                self._refuse_offline(parsed)
        else:
            with self._errors_of(parsed):
                info = self._hub.dataset_info(
                    parsed.repository, revision=parsed.revision, timeout=_SECONDS
                )
            commit = info.sha or ""
            if not _COMMIT.fullmatch(commit):
                raise StoreUnavailable(f"hf:{parsed}: the Hub names no commit")
            write_atomically(note, commit.encode())
        return str(_HubName(parsed.repository, commit, parsed.path))

    def fetch(self, name: str, transferred: Transferred, *, media: bool) -> Path:
        pinned = _HubName.parse(name)
        copy = self._copies(pinned) / pinned.revision
        # A copy of all files includes the data; one of the whole repository, every part of it.
        kinds = [(path, kind) for path in ("", pinned.path) for kind in (True, media)]
        if not any(_mark(copy, path, media=kind).is_file() for path, kind in kinds):
            if self.offline:
                self._refuse_offline(pinned)
            with self._errors_of(pinned):
                self._download(pinned, copy, transferred, media=media)
            write_atomically(_mark(copy, pinned.path, media=media), b"")
        place = copy / pinned.path
        if not place.exists():
            raise InvalidInput(f"{pinned.repository} holds no {pinned.path}", file=f"hf:{name}")
        return place

    def _download(
        self, name: _HubName, copy: Path, transferred: Transferred, *, media: bool
    ) -> None:
        # The marks of complete copies are there.
        patterns: dict[str, Any] = {"allow_patterns": None, "ignore_patterns": [".cache/*"]}
        if name.path:
            literal = re.sub(r"([*?[])", r"[\1]", name.path)
            patterns["allow_patterns"] = [literal, f"{literal}/*"]
        if not media:
            patterns["ignore_patterns"] += [_any_case(f"*{suffix}") for suffix in MEDIA_SUFFIXES]
        tree = self._hub.list_repo_tree(
            name.repository, recursive=True, revision=name.revision, repo_type="dataset"
        )
        files = (each for each in tree if isinstance(each, huggingface_hub.RepoFile))
        # The filter that `snapshot_download` applies to the same patterns.
        matches = hub_utils.filter_repo_objects(  # type: ignore[attr-defined]  # as documented
            files, key=lambda file: file.path, **patterns
        )
        sizes = {each.path: each.size for each in matches}
        if not sizes:
            raise InvalidInput("it has no such files", file=f"hf:{name}")
        here = sum(size for path, size in sizes.items() if _has(copy / path, size))
        check_room(f"hf:{name}", copy, sum(sizes.values()), here, self.most_bytes)
        huggingface_hub.snapshot_download(
            name.repository,
            repo_type="dataset",
            revision=name.revision,
            local_dir=copy,
            endpoint=self.endpoint,
            tqdm_class=_byte_counter(transferred, here, sum(sizes.values())),
            **patterns,
        )
        # Without a network it returns an incomplete copy.
        if lost := [path for path, size in sizes.items() if not _has(copy / path, size)]:
            raise StoreUnavailable(f"hf:{name}: {lost[0]} is incomplete; rerun the same command")

    @property
    def _hub(self) -> huggingface_hub.HfApi:
        return huggingface_hub.HfApi(endpoint=self.endpoint)

    def _copies(self, name: _HubName) -> Path:
        return self.folder / name.repository.replace("/", "--")

    def _refuse_offline(self, name: _HubName) -> NoReturn:
        raise InvalidInput(
            f"not in the cache {self.folder}, and HF_HUB_OFFLINE is set: fetch it once without",
            file=f"hf:{name}",
        )

    def _errors_of(self, name: _HubName) -> AbstractContextManager[None]:
        request = HubRequest(
            "dataset", name.repository, name.revision, f"hf:{name}", _SYNTAX, _OFFLINE
        )
        return hub_errors_translated(request, self.endpoint, self.folder)


def _read_commit(note: Path) -> str | None:
    """The commit of a revision when the Hub was last asked; None if it never was."""
    try:
        text = note.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if _COMMIT.fullmatch(text) else None


def _mark(copy: Path, path: str, *, media: bool) -> Path:
    kind = "all" if media else "data"
    return copy / ".cache" / f"{kind}-{sha256(path.encode()).hexdigest()[:16]}"


def _has(file: Path, size: int) -> bool:
    return file.is_file() and file.stat().st_size == size


def _any_case(pattern: str) -> str:
    return re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", pattern)


def _byte_counter(transferred: Transferred, here: int, total: int) -> type[Any]:
    """A class of progress bars that draws nothing and reports bytes to `transferred`."""
    lock, done = threading.Lock(), [here]

    class ByteCounter(hub_utils.tqdm):  # type: ignore[misc, name-defined]  # it has no types
        def __init__(self, *args: Any, **options: Any) -> None:
            self._counts_bytes = options.get("name") == _BYTES_BAR
            super().__init__(*args, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            if self._counts_bytes and n:
                with lock:
                    done[0] += int(n)
                    transferred(min(done[0], total), total)
            return None

    return ByteCounter
