"""The payloads of CompreCap's questions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Atom:
    """Pixels covered by the same set of instances: their places in `info`, and how many."""

    instances: tuple[int, ...]
    pixels: int


@dataclass(frozen=True, slots=True)
class SceneMeasure:
    """The `objects` measure of an image: S_object, and what S-Cov needs (paper 3.3).

    `categories` are the image's unique ones in annotation order, `instances` the category
    of each instance. `atoms` hold the masks' overlaps, `pixels` the image's area.
    """

    categories: tuple[str, ...]
    instances: tuple[str, ...]
    atoms: tuple[Atom, ...]
    pixels: int


@dataclass(frozen=True, slots=True)
class PhraseQuestion:
    """How much of a phrase do the pieces of a caption hold, 0 to 5? (paper Fig. 3)

    `kind` is attribute (of one instance) or relation; `number` counts within the kind.
    `mentions` are the annotated categories, any of which brings a piece of the caption in; none
    where the released pairing of relations leaves one without a sentence.
    """

    kind: str
    number: int
    phrase: str
    mentions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MediaQuestion:
    """A CompreQA question, asked on the image itself: kind `p` (presence) or `cap`.

    The options stand inside `question`; `answer` is the letter.
    """

    kind: str
    category: str
    question: str
    answer: str
