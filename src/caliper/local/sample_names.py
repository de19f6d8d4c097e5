"""Finds the sample of a dataset by name, with or without folders and extension."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import chain

from caliper.adapters.media.bounds import CLIPS, PICTURES

_ENDINGS = PICTURES | CLIPS.keys()
_Form = tuple[tuple[str, ...], str]
"""The folders and the extension of a name."""
_Index = dict[str, list[tuple[_Form, str]]]


class SampleNames:
    """The samples of a dataset, each with the paths of its media.

    A name also matches a sample if they differ only by leading folders or an extension that one of
    them lacks, or if it matches the sample's only medium in this way. Equal names come before such
    matches, and names of samples before those of media.
    """

    def __init__(self, samples: Mapping[str, tuple[str, ...]]) -> None:
        self.samples = samples

    def find(self, name: str) -> tuple[str, ...]:
        """The sample with this name; none or several if that is unclear."""
        if name in self.samples:
            return (name,)
        stem, form = _parts(name)
        index = self._index
        equal = (sample for other, sample in index.get(stem, ()) if other == form)
        alike = (sample for other, sample in index.get(stem, ()) if _agree(form, other))
        return tuple(dict.fromkeys(equal)) or tuple(dict.fromkeys(alike))

    @cached_property
    def _index(self) -> _Index:
        index: _Index = {}
        media = ((m[0], sample) for sample, m in self.samples.items() if len(m) == 1)
        for name, sample in chain(zip(self.samples, self.samples, strict=True), media):
            stem, form = _parts(name)
            index.setdefault(stem, []).append((form, sample))
        return index


def _parts(name: str) -> tuple[str, _Form]:
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    *folders, last = parts or [""]
    stem, dot, ending = last.rpartition(".")
    if not stem or f"{dot}{ending}".lower() not in _ENDINGS:
        stem, ending = last, ""
    return stem, (tuple(folders), ending.lower())


def _agree(one: _Form, other: _Form) -> bool:
    (folders, ending), (others, another) = one, other
    shared = min(len(folders), len(others))
    alike = folders[len(folders) - shared :] == others[len(others) - shared :]
    return alike and (ending == another or not (ending and another))
