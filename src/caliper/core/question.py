"""Items and their questions, and the requests that an examination makes.

An examination is a generator. It yields a batch (`Nouns`, `Embed`, or a tuple of `Ask`s),
is sent the answers in the order of the batch, and returns the verdicts of its item:

    Nouns(texts)         -> one tuple of nouns per text
    Embed(texts)         -> one vector per text
    (Ask, Ask, ...)      -> one Reply or Failure per Ask

It does no I/O; its driver does.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from caliper.core.outcome import Reason, Verdict

Payload = TypeVar("Payload")


class Source(StrEnum):
    """The source of a question's answer: the caption or the media."""

    CAPTION = "caption"
    MEDIA = "media"


@dataclass(frozen=True, slots=True)
class Question(Generic[Payload]):
    """One question of an item, asked `repeats` times.

    `payload` is a frozen dataclass of the benchmark. Planning sets `unscored` if there can be no
    score, for example because of bad ground truth; `note` then says why.
    """

    ordinal: int
    payload: Payload
    repeats: int = 1
    unscored: Reason | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One annotation of a benchmark, with all questions about it.

    `key` names the annotation (`task/file_id`, or the image's id), `sample` the sample whose
    caption and media are used, and `cluster` the unit that intervals resample (the media file).
    `first` is the dense index, in the plan of the run, of the item's first (question, repeat).
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
        """The number of (question, repeat) pairs."""
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
    """Sampling parameters. `temperature` 0 is greedy; `top_p` 1 keeps all tokens. The text ends
    before the first of `stop`.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for one reply.

    `prompt` names a template of the prompt pack; `fields` are substituted into it as plain text.
    `schema` is the JSON schema of the reply, None for free text. `attempt` is 1 if the first reply
    was unreadable and the question is asked once more. `untrusted` names the field that holds
    caption text, if any: prompts get its neutral form. `fence` is the digest of the whole caption
    if the text is to be fenced, else empty.
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
    """A request for one vector per text. No text occurs twice."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply. `truncated`: it hit the output token limit."""

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
