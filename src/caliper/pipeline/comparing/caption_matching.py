"""Matches the captions of a run of CompreCap with its pictures' objects again, without a model.

Nouns and vectors are those that the run kept with its replies. Taggers and embedders that keep none
(rules, n-grams) compute them again, if they are still of the same revision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from caliper.benchmarks.base import lacks_caption
from caliper.benchmarks.comprecap.examination import Scene, pieces, scene_texts
from caliper.benchmarks.comprecap.planning import NAME
from caliper.benchmarks.comprecap.questions import SceneMeasure
from caliper.core.caption import Caption, CutShort
from caliper.core.fence import clip
from caliper.core.messages import ExamineJob
from caliper.core.question import Item, Vector
from caliper.core.run import Identity, RunSpec
from caliper.lexical.ngrams import NgramEmbedder
from caliper.lexical.tagger import RuleTagger
from caliper.pipeline.asking.replies import ReplyBook, key_of_job
from caliper.ports.models import Embedder, NounTagger
from caliper.ports.storage import ObjectStore


@dataclass(frozen=True, slots=True)
class MatchingPorts:
    """What matches captions again: other taggers, and an embedder for words whose vectors are not
    kept, which is used if it is that of the run. `rules` is the lexical judge of this release.
    """

    rules: Identity
    taggers: Sequence[NounTagger] = ()
    embedder: Embedder | None = None


@dataclass(frozen=True, slots=True)
class CaptionMatcher:
    """Matches the captions of one run. `store` holds its replies."""

    spec: RunSpec
    store: ObjectStore
    ports: MatchingPorts

    async def scenes(self, item: Item, text: str) -> dict[str, Scene]:
        """The decomposed caption by tagger: the run's own first, then the others.

        A tagger is left out if its nouns, or the vectors of some, are not to be had. Raises
        StoreUnavailable, and what the embedder raises.
        """
        part = self.spec.benchmark(NAME)
        measure: SceneMeasure = item.questions[0].payload
        if lacks_caption(item, text, part.settings) or not measure.categories:
            return {}
        caption = Caption(item.sample, str(text), isinstance(text, CutShort))
        job = ExamineJob(self.spec.run_id, NAME, item.sample, caption, (item,))
        book = await ReplyBook.open(self.store, *key_of_job(self.spec, job), job.run)
        parts = pieces(clip(caption.text))
        found = {}
        for tagger, nouns in self._nouns(book, parts).items():
            texts = scene_texts(nouns, measure.categories)
            vectors = await self._vectors(book, texts)
            if vectors is not None:
                found[tagger] = Scene.of(parts, nouns, measure.categories, vectors)
        return found

    def _nouns(self, book: ReplyBook, parts: tuple[str, ...]) -> dict[str, Sequence[Sequence[str]]]:
        """The nouns of each piece by tagger."""
        own = self.spec.benchmark(NAME).models["tagger"]
        kept = [book.values(book.key_of_text(own, "nouns", piece)) for piece in parts]
        taggers = (RuleTagger(), *self.ports.taggers)
        again = next((each for each in taggers if own.matches(each.identity)), None)
        found: dict[str, Sequence[Sequence[str]]] = {}
        if all(nouns is not None for nouns in kept):
            found[own.label] = [tuple(nouns or ()) for nouns in kept]
        elif again is not None:
            found[own.label] = again.nouns(parts)
        for tagger in self.ports.taggers:
            if not own.matches(tagger.identity):
                found[tagger.identity.label] = tagger.nouns(parts)
        return found

    async def _vectors(self, book: ReplyBook, texts: tuple[str, ...]) -> dict[str, Vector] | None:
        """The vectors of these texts; None if some are not to be had."""
        own = self.spec.benchmark(NAME).models["embedder"]
        kept = {text: book.values(book.key_of_text(own, "embed", text)) for text in texts}
        absent = [text for text, vector in kept.items() if vector is None]
        if absent:
            embedders = (NgramEmbedder(), self.ports.embedder)
            again = next((one for one in embedders if one and own.matches(one.identity)), None)
            if again is None:
                return None
            kept |= zip(absent, await again.embed(absent), strict=True)
        return {text: tuple(vector or ()) for text, vector in kept.items()}
