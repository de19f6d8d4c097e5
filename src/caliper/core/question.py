"""Items and their questions, and what an examination asks of the world outside.

An examination is a generator. It yields a batch (`Nouns`, `Embed`, or a tuple of `Ask`s),
is sent the answers in the order of the batch, and returns the verdicts of its item:

    Nouns(texts)         -> one tuple of nouns a text
    Embed(texts)         -> one vector a text
    (Ask, Ask, ...)      -> one Reply or Failure an Ask

It does no I/O: whoever drives it does.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from caliper.core.outcome import Reason, Verdict

Payload = TypeVar("Payload")


class Source(StrEnum):
    """What a question is answered from."""

    CAPTION = "caption"
    MEDIA = "media"


@dataclass(frozen=True, slots=True)
class Question(Generic[Payload]):
    """One question of an item, asked `repeats` times.

    `payload` is a frozen dataclass that the benchmark owns. `unscored` is set when
    planning already knows that there can be no score (a bad ground truth, say); `note`
    then says why.
    """

    ordinal: int
    payload: Payload
    repeats: int = 1
    unscored: Reason | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One annotated thing of a benchmark, with all questions about it.

    `key` names the annotation (`task/file_id`, or the image's id), `sample` whose caption
    and media are used, `cluster` what intervals resample (the media file). `first` is the
    dense index, in the plan of the run, of this item's first (question, repeat).
    """

    benchmark: str
    key: str
    sample: str
    cluster: str
    media: tuple[str, ...]
    questions: tuple[Question[Any], ...]
    source: Source = Source.CAPTION
    first: int = 0

    @property
    def size(self) -> int:
        """How many (question, repeat) pairs the item has."""
        return sum(question.repeats for question in self.questions)

    def positions(self) -> Iterator[tuple[int, Question[Any], int]]:
        """Every (dense index, question, repeat), in index order."""
        index = self.first
        for question in self.questions:
            for repeat in range(question.repeats):
                yield index, question, repeat
                index += 1


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a model chooses its words. `temperature` 0 is greedy; `top_p` 1 keeps all. The text
    ends before any of `stop`.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for one reply.

    `prompt` names a template of the prompt pack, `fields` what is put into it by plain
    substitution. `schema` is the JSON schema of the reply, None for free text. `attempt`
    is 1 when the first reply could not be read and the question is asked once more.
    `untrusted` names the field that holds a caption's text, empty where none does: prompts
    get it in its neutral form. `fence` is the digest of the whole caption where the text is to
    stand between marks, else empty.
    """

    item: Item
    question: Question[Any]
    repeat: int
    prompt: str
    fields: Mapping[str, str]
    decoding: Decoding = Decoding()
    schema: Mapping[str, Any] | None = None
    attempt: int = 0
    untrusted: str = ""
    fence: str = ""


@dataclass(frozen=True, slots=True)
class Nouns:
    """A request for the nouns of each text: lower-cased lemmas in order, repeats kept."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Embed:
    """A request for one vector a text. Each text stands once."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered. `truncated`: it ran into its limit of output tokens."""

    text: str
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer, and why."""

    reason: Reason
    detail: str = ""


Vector = tuple[float, ...]
Answer = Reply | Failure
Batch = Nouns | Embed | tuple[Ask, ...]
Answers = Sequence[tuple[str, ...]] | Sequence[Vector] | Sequence[Answer]
Examination = Generator[Batch, Any, tuple[Verdict, ...]]
