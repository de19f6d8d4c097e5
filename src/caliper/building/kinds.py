"""The particulars of a benchmark's builds: words for people, rules of edits, final files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.building.candidates import Candidate


@dataclass(frozen=True, slots=True)
class CandidateEdit:
    """A person's texts in place of a candidate's."""

    question: str
    choices: tuple[str, ...]
    answer: str


def _question(candidate: Candidate) -> str:
    return candidate.question


def _image(candidate: Candidate) -> str:
    return candidate.image


@dataclass(frozen=True, slots=True)
class BuildKind:
    """A benchmark as its builds need it.

    `noun` is the word for a candidate, `reasons` are the usual ones of a rejection. `edited`
    applies an edit under the format rules: it keeps the id, and raises InvalidInput. `files`
    returns the final files' texts by path, from the accepted candidates and the content of
    build.json. `summary` sums them up in a sentence. `heading` stands above a candidate, `picture`
    names the picture to show, and `editable` the fields that people may edit. `inputs` is a file of
    the build directory whose rows `files` finds as `inputs` in the content of build.json. `bound`
    is the setting that limits a category, if any, which is balanced over the values of `share`. For
    the data card: the unit that the first step `counted`, and `statistics`, a table with a head.
    """

    benchmark: str
    noun: str
    reasons: tuple[str, ...]
    edited: Callable[[Candidate, CandidateEdit], Candidate]
    files: Callable[[Sequence[Candidate], Mapping[str, Any]], Mapping[str, str]]
    summary: Callable[[Sequence[Candidate]], str]
    heading: Callable[[Candidate], str] = _question
    picture: Callable[[Candidate], str] = _image
    editable: Callable[[Candidate], tuple[str, ...]] = lambda _: ("question", "choices", "answer")
    inputs: str = ""
    bound: str = ""
    share: Callable[[Candidate], str] = _image
    counted: str = "candidates"
    statistics: Callable[[Sequence[Candidate]], Sequence[tuple[str, ...]]] = lambda _: ()
