"""Prompt packs in files: the one that ships with Caliper, and a team's own.

A pack is a folder with one folder per benchmark; `<benchmark>/prompts/<template>.yaml` is the
template `<benchmark>/<template>`, a mapping of

    source: Fig. A3      the origin of the text: a figure of a paper, or Caliper
    system: ...          optional
    user: ...            may contain {gaps}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml

from caliper.adapters.plain_yaml import load_yaml
from caliper.benchmarks.registry import BUILT_IN, all_names, resources
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.keys import digest
from caliper.ports.prompts import Template

_KEYS = ("source", "system", "user")
_SUFFIX = ".yaml"


class FilePack:
    """A PromptPack that is read completely on creation, so that its digest cannot drift.

    `name` is `caliper`, or the last part of the folder's path.
    """

    def __init__(
        self, name: str, root: Traversable, added: Callable[[str], Traversable | None] | None = None
    ) -> None:
        """`added` gives the folder of further templates of a benchmark, which are read when first
        asked for.

        Raises InvalidInput naming the file and, if known, the line and key.
        """
        self.name, self._root, self._added = name, root, added
        self._own = {template: _read(file) for template, file in _files(_folders(root))}
        self._others: dict[str, dict[str, Template]] = {}

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the canonical JSON of all templates, sources included.

        Added ones do not count, so that installing a plug-in changes no other run: the version of
        its package is a setting of its benchmark.
        """
        return digest({name: asdict(template) for name, template in self._own.items()})

    def template(self, name: str) -> Template:
        """The template `<benchmark>/<template>`. Raises UnknownName with the missing file, and
        what reading an added one raises.
        """
        benchmark, _, stem = name.partition("/")
        templates = self._own if name in self._own else self._added_of(benchmark)
        if name not in templates:
            file = f"{self._root}/{benchmark}/prompts/{stem}{_SUFFIX}"
            names = tuple(sorted({**self._own, **templates}))
            raise UnknownName("prompt template", name, names, file=file)
        return templates[name]

    def _added_of(self, benchmark: str) -> dict[str, Template]:
        if benchmark not in self._others:
            folder = self._added(benchmark) if self._added else None
            files = {} if folder is None else {benchmark: folder}
            self._others[benchmark] = {name: _read(file) for name, file in _files(files)}
        return self._others[benchmark]


def open_pack(folder: Path | None) -> FilePack:
    """The pack in a folder, or the shipped one. Raises as `folder_pack`."""
    return shipped_pack() if folder is None else folder_pack(folder)


@cache
def shipped_pack() -> FilePack:
    """The pack inside the wheel, and the templates of installed plug-ins."""
    return FilePack("caliper", files("caliper.benchmarks"), _packaged)


def _packaged(benchmark: str) -> Traversable | None:
    if benchmark in BUILT_IN or benchmark not in all_names():
        return None
    return files(resources(benchmark)) / "prompts"


def folder_pack(folder: Path) -> FilePack:
    """A team's own pack. A template that it lacks is not taken from ours.

    Raises InvalidInput if `folder` is not a folder, or its templates are missing or broken.
    """
    if not folder.is_dir():
        raise InvalidInput("no such folder of prompt templates", file=str(folder))
    if not any(_files(_folders(folder))):
        expected = f"<benchmark>/prompts/<template>{_SUFFIX}"
        raise InvalidInput(f"no prompt templates here; expected {expected}", file=str(folder))
    return FilePack(folder.resolve().name, folder)


def _folders(root: Traversable) -> dict[str, Traversable]:
    return {benchmark: root / benchmark / "prompts" for benchmark in sorted(all_names())}


def _files(folders: Mapping[str, Traversable]) -> Iterator[tuple[str, Traversable]]:
    """Every (template name, file) in the benchmarks' folders, ordered by name."""
    for benchmark, prompts in folders.items():
        if prompts.is_dir():
            for file in sorted(prompts.iterdir(), key=lambda entry: entry.name):
                if file.name.endswith(_SUFFIX):
                    yield f"{benchmark}/{file.name.removesuffix(_SUFFIX)}", file


def _read(file: Traversable) -> Template:
    texts = _texts(file, _mapping(file))
    for key in ("source", "user"):
        if not texts.get(key, "").strip():
            raise InvalidInput("missing or empty", file=str(file), field=key)
    return Template(texts.get("system", ""), texts["user"], texts["source"])


def _mapping(file: Traversable) -> dict[Any, Any]:
    try:
        document = load_yaml(file.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"not UTF-8 at byte {error.start}", file=str(file)) from error
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}", file=str(file)) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", "cannot be read")
        line = mark.line + 1 if mark else None
        raise InvalidInput(f"not YAML: {problem}", file=str(file), line=line) from error
    if not isinstance(document, dict):
        raise InvalidInput(f"expected a mapping of {', '.join(_KEYS)}", file=str(file))
    return document


def _texts(file: Traversable, document: dict[Any, Any]) -> dict[str, str]:
    for key, value in document.items():
        if key not in _KEYS:
            raise UnknownName("key", str(key), _KEYS, file=str(file))
        if not isinstance(value, str):
            raise InvalidInput(f"expected text, found {value!r:.60}", file=str(file), field=key)
    return document
