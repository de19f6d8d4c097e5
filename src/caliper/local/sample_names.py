"""Which sample of a dataset a name stands for, with or without folders and extension."""

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

    A name also stands for a sample if both are equal but for leading folders or an extension that
    only one of them has, or if it so names the only medium of the sample. An equal name counts
    before such ones, that of a sample before that of a medium.
    """

    def __init__(self, samples: Mapping[str, tuple[str, ...]]) -> None:
        self.samples = samples

    def find(self, name: str) -> tuple[str, ...]:
        """The sample that is named; none or several if that is not clear."""
        if name in self.samples:
            return (name,)
        stem, form = _parts(name)
        index = self._index
        equal = (sample for known, sample in index.get(stem, ()) if known == form)
        alike = (sample for known, sample in index.get(stem, ()) if _agree(form, known))
        return tuple(dict.fromkeys(equal)) or tuple(dict.fromkeys(alike))

    @cached_property
    def _index(self) -> _Index:
        found: _Index = {}
        media = ((m[0], sample) for sample, m in self.samples.items() if len(m) == 1)
        for name, sample in chain(zip(self.samples, self.samples, strict=True), media):
            stem, form = _parts(name)
            found.setdefault(stem, []).append((form, sample))
        return found


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
