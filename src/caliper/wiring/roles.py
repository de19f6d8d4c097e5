"""The models of one role's process, and the jobs that it accepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from caliper.adapters.media.preparation import InlineMedia
from caliper.benchmarks.registry import benchmark, usable_names
from caliper.core.envelopes import Message
from caliper.core.errors import CaliperError, InvalidInput, MediaMissing, ModelChanged
from caliper.core.messages import RunFailed, event_key
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.lazy import lazy_module
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.store.media_index import MediaIndex, read_medium
from caliper.pipeline.store.run_book import RunBook
from caliper.ports.codec import Codec
from caliper.ports.models import Answerer, ChatModel, Embedder, Image, NounTagger
from caliper.ports.prompts import PromptPack
from caliper.ports.storage import ObjectStore
from caliper.ports.stream import JobStream
from caliper.wiring.models import ModelRoom
from caliper.wiring.specs import split_spec

if TYPE_CHECKING:
    from caliper.adapters.models import lexical as lexical_answerer
else:
    lexical_answerer = lazy_module("caliper.adapters.models.lexical")


@dataclass(frozen=True, slots=True)
class RoleModels:
    """The models of one role: the prompted model `chat`, or rules if it is None."""

    role: str
    chat: ChatModel | None
    pack: PromptPack
    tagger: NounTagger | None = None
    embedder: Embedder | None = None

    @classmethod
    async def open(
        cls,
        role: str,
        spec: str,
        pack: PromptPack,
        room: ModelRoom,
        language: tuple[str, str] | None = None,
    ) -> RoleModels:
        """Open the model of a SPEC; `language` names the tagger and the embedder.

        Raises what `ModelRoom.chat_model` raises, and InvalidInput for recordings: they belong to
        single runs.
        """
        kind, _ = split_spec(spec)
        if kind == "replay":
            raise InvalidInput("recorded replies are for runs in one process", field="model")
        chat = None if kind == "lexical" else await room.chat_model(spec)
        if language is None:
            return cls(role, chat, pack)
        return cls(role, chat, pack, room.tagger(language[0]), await room.embedder(language[1]))

    def __call__(self, seed: int) -> Models:
        """The models of a run with that sampling seed."""
        answerer: Answerer
        if self.chat is None:
            answerer = lexical_answerer.LexicalAnswerer()
        else:
            answerer = PromptingAnswerer(self.chat, self.pack, seed)
        names = [name for name in usable_names() if benchmark(name).role == self.role]
        answerers = {f"{name}/{self.role}": answerer for name in names}
        return Models(answerers, self.tagger, self.embedder)

    @property
    def identities(self) -> dict[str, Identity]:
        """The identity of each model, by role."""
        answerer = self.chat.identity if self.chat else lexical_answerer.LexicalAnswerer().identity
        by_role = {self.role: answerer}
        if self.tagger is not None and self.embedder is not None:
            by_role |= {"tagger": self.tagger.identity, "embedder": self.embedder.identity}
        return by_role


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Accepts jobs of runs that are stored, not stopped, and resolved with the models here.

    A run that was resolved with other models is reported to the aggregator as failed.
    """

    identities: Mapping[str, Identity]
    pack: str
    runs: RunBook
    stream: JobStream
    codec: Codec

    async def spec(self, run: str, name: str) -> RunSpec | None:
        """The spec of a job's run; None if the job should be acknowledged without work.

        Raises NotFound for a run that is not stored, StoreUnavailable, StreamUnavailable.
        """
        spec = await self.runs.spec(run)
        if await self.runs.is_stopped(run):
            return None
        try:
            self._check_models(spec, spec.benchmark(name))
        except ModelChanged as error:
            await self.fail(run, error)
            return None
        return spec

    def _check_models(self, spec: RunSpec, part: BenchmarkSpec) -> None:
        if spec.pack != self.pack:
            raise ModelChanged("the run was resolved with another prompt pack")
        for role, identity in self.identities.items():
            expected = part.models.get(role, identity)
            if not identity.matches(expected):
                raise ModelChanged(
                    f"the {role} is {identity.label}; the run was resolved with {expected.label}"
                )

    async def fail(self, run: str, error: CaliperError) -> None:
        """Report a run as failed: another attempt would meet the same error."""
        event = RunFailed(run, str(error), await self.runs.last_start(run))
        await self.stream.publish(Message(RUNS, event_key(event), self.codec.write(event)))


@dataclass(frozen=True, slots=True)
class StoredMedia:
    """The media of a dataset in the store, as ports.media.Media."""

    store: ObjectStore
    index: MediaIndex
    data: str
    inline: InlineMedia
    listing: str = ""

    async def images(self, paths: Sequence[str]) -> list[Image]:
        """The pictures, or the frames of the clip. Raises like the port, and StoreUnavailable."""
        pictures: list[Image] = []
        for path in paths:
            key = await self.index.key(self.data, path, self.listing)
            if key is None:
                raise _not_pushed(path)
            fetch = partial(self._fetch, key, path)
            pictures += await self.inline.images(PurePosixPath(key).name, path, fetch)
        return pictures

    async def _fetch(self, key: str, path: str, most: int) -> bytes:
        data = await read_medium(self.store, key, most)
        if data is None:
            raise _not_pushed(path)
        return data


def _not_pushed(path: str) -> MediaMissing:
    return MediaMissing(f"{path} was not pushed to the store")
