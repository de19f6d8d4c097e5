"""Matches the captions of a CompreCap run with its pictures' objects again, without a model.

Nouns and vectors are those stored with the run's replies. Taggers and embedders that store none
(rules, n-grams) compute them again if their revision is still the same.
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
    """The models for matching: other taggers, and an embedder for words without stored vectors,
    which is used if it is the run's own. `rules` is the lexical judge of this release.
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

        A tagger is left out if its nouns, or some of their vectors, are unavailable. Raises
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
        scenes = {}
        for tagger, nouns in self._nouns(book, parts).items():
            texts = scene_texts(nouns, measure.categories)
            vectors = await self._vectors(book, texts)
            if vectors is not None:
                scenes[tagger] = Scene.of(parts, nouns, measure.categories, vectors)
        return scenes

    def _nouns(self, book: ReplyBook, parts: tuple[str, ...]) -> dict[str, Sequence[Sequence[str]]]:
        """The nouns of each piece by tagger."""
        own = self.spec.benchmark(NAME).models["tagger"]
        stored_nouns = [book.values(book.key_of_text(own, "nouns", piece)) for piece in parts]
        taggers = (RuleTagger(), *self.ports.taggers)
        again = next((each for each in taggers if own.matches(each.identity)), None)
        nouns_by_tagger: dict[str, Sequence[Sequence[str]]] = {}
        if all(nouns is not None for nouns in stored_nouns):
            nouns_by_tagger[own.label] = [tuple(nouns or ()) for nouns in stored_nouns]
        elif again is not None:
            nouns_by_tagger[own.label] = again.nouns(parts)
        for tagger in self.ports.taggers:
            if not own.matches(tagger.identity):
                nouns_by_tagger[tagger.identity.label] = tagger.nouns(parts)
        return nouns_by_tagger

    async def _vectors(self, book: ReplyBook, texts: tuple[str, ...]) -> dict[str, Vector] | None:
        """The vectors of these texts; None if some are unavailable."""
        own = self.spec.benchmark(NAME).models["embedder"]
        vectors = {text: book.values(book.key_of_text(own, "embed", text)) for text in texts}
        lacking = [text for text, vector in vectors.items() if vector is None]
        if lacking:
            embedders = (NgramEmbedder(), self.ports.embedder)
            again = next((one for one in embedders if one and own.matches(one.identity)), None)
            if again is None:
                return None
            vectors |= zip(lacking, await again.embed(lacking), strict=True)
        return {text: tuple(vector or ()) for text, vector in vectors.items()}
