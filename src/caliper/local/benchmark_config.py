"""One benchmark's part of a run's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator

from caliper.core.caption import MOST_CAPTION_TOKENS
from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.core.run import MOST_REPEATS
from caliper.wiring.data_sources import data_name
from caliper.wiring.strict import Strict


class BenchmarkConfig(Strict):
    """One benchmark of a run. Exactly one of `captions` and `captioner` is given. `data`, `media`
    and `qa` are paths or names (wiring.data_sources).

    Models are named by SPEC: `lexical`, `chat:URL[,URL...][#model[@revision]]`, `tgi:` alike,
    `triton:HOST:PORT/MODEL[@VERSION][#OPTIONS]` or `replay:DIR`. `media` is the folder that the
    dataset's media paths are relative to, by default the folder of the data. With `qa` the
    captioner is asked questions about the media: either the dataset in question form, or true to
    use the benchmark's own questions. `qa_replies` are recorded replies to them. `preparation`
    sets how media are shown to the captioner: the fields of core.preparation.Preparation by name.
    `taxonomy` is a file of the nodes that the caption prompt lists (docs/data.md), and
    `caption_tokens` the maximum output tokens per caption.
    """

    data: Path
    captions: Path | None = None
    captioner: str | None = None
    prompt: str = "simple"
    judge: str | None = None
    reader: str | None = None
    tagger: str = "rules"
    embedder: str = "ngram"
    media: Path | None = None
    qa: Path | Literal[True] | None = None
    qa_replies: Path | None = None
    repeats: int | None = Field(default=None, ge=1, le=MOST_REPEATS)
    set: Mapping[str, str] = Field(default_factory=dict)
    preparation: Mapping[str, str] = Field(default_factory=dict)
    taxonomy: Path | None = None
    caption_tokens: int | None = Field(default=None, ge=1, le=MOST_CAPTION_TOKENS)
    _origins: Mapping[str, str | None] = PrivateAttr(default_factory=dict)

    @field_validator("set", "preparation", mode="before")
    @classmethod
    def _plain_values(cls, value: object) -> object:
        """Convert values to text: YAML reads `max_tokens: 4` as a number."""
        if isinstance(value, Mapping):
            return {name: str(setting) for name, setting in value.items()}
        return value

    @field_validator("qa", mode="before")
    @classmethod
    def _path_or_true(cls, value: object) -> object:
        if not (value is None or value is True or isinstance(value, str | Path)):
            raise ValueError("expected a path, or true for the benchmark's own questions")
        return value

    @property
    def origins(self) -> Mapping[str, str | None]:
        """The names and revisions of the data in fields with local copies; None for media that
        were found beside the copies. Empty until the data are fetched.
        """
        return self._origins

    def located(self, places: Mapping[str, Path], origins: Mapping[str, str | None]) -> Self:
        """The benchmark with its fields replaced by the local copies in `places`."""
        local = self.model_copy(update=dict(places))
        local._origins = dict(origins)  # noqa: SLF001 - of the same class
        return local

    @property
    def media_root(self) -> Path:
        """The folder that media paths are relative to."""
        return self.media or (self.data if self.data.is_dir() else self.data.parent)

    @property
    def lacks_media(self) -> bool:
        """Whether the folder that `media` names does not exist."""
        return self.media is not None and data_name(self.media) is None and not self.media.is_dir()

    @property
    def prepared(self) -> Preparation | None:
        """How media are shown to the captioner; None without a captioner."""
        return None if self.captioner is None else Preparation.of(self.preparation)

    @model_validator(mode="after")
    def _one_source_of_captions(self) -> Self:
        if (self.captions is None) == (self.captioner is None):
            raise ValueError("give exactly one of captions and captioner")
        if self.preparation and self.captioner is None:
            raise ValueError("only captioners see media: preparation needs one")
        if self.caption_tokens is not None and self.captioner is None:
            raise ValueError("only captioners write captions: caption_tokens needs one")
        if self.taxonomy and (self.captioner is None or self.prompt != "taxonomy"):
            raise ValueError("a taxonomy is for a captioner with the caption prompt taxonomy")
        if self.qa is not None and self.captioner is None and self.qa_replies is None:
            raise ValueError(
                "the checkpoint answers questions about media (qa): give its captioner, or its "
                "recorded replies (qa_replies)"
            )
        return self

    @field_validator("preparation", mode="after")
    @classmethod
    def _known_preparation(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        try:
            Preparation.of(value)
        except InvalidInput as error:
            raise ValueError(str(error)) from error
        return value
