"""The inputs and options of a build."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from caliper.adapters.media.bounds import CLIPS, PICTURES, MediaLimits
from caliper.building.captionqa.blind import VOTES
from caliper.building.captionqa.duplicates import GroupingOptions
from caliper.core.errors import InvalidInput

MOST_PICTURES, MOST_PER_PICTURE = 10_000, 2_000
"""Limited because all questions about a picture are compared with each other."""
VALIDATORS = 2


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The inputs, models and settings of a build.

    `questions` holds candidates written by people or another program. `most` is the number of
    questions per picture, category and generator, `per_category` the final number per category.
    Models are SPECs; a step without one is skipped. `settings` are those of the model steps.
    """

    taxonomies: tuple[Path, ...]
    images: Path
    domain: str = ""
    questions: Path | None = None
    generators: tuple[str, ...] = ()
    blind: str | None = None
    validators: tuple[str, ...] = ()
    embedder: str = "ngram"
    most: int = 3
    votes: int = VOTES
    grouping: GroupingOptions = field(default_factory=GroupingOptions)
    reject: bool = False
    per_category: int | None = None
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise InvalidInput for options that fit no build."""
        if self.questions is None and not self.generators:
            message = "nobody writes questions: give --generator SPEC or --questions FILE"
            raise InvalidInput(message, field="questions")
        if len(self.validators) not in (0, VALIDATORS):
            message = f"expected {VALIDATORS} validators or none, found {len(self.validators)}"
            raise InvalidInput(message, field="validator")
        if self.grouping.cohesion > self.grouping.similarity:
            raise InvalidInput("higher than --similarity", field="cohesion")


def media_digests(
    folder: Path, limits: MediaLimits, suffixes: Collection[str] = PICTURES
) -> dict[str, str]:
    """The SHA-256 of every medium below a folder, by path, in the order of the paths.

    Hidden files and files with other suffixes are ignored. Raises InvalidInput naming a file that
    is too large or cannot be read, and for no media or too many.
    """
    if not folder.is_dir():
        raise InvalidInput("no such folder", file=str(folder), field="images")
    media = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in suffixes
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not 0 < len(media) <= MOST_PICTURES:
        noun = "pictures" if suffixes is PICTURES else "pictures and clips"
        message = f"expected 1 to {MOST_PICTURES:,} {noun}, found {len(media):,}"
        raise InvalidInput(message, file=str(folder), field="images")
    digests = {}
    for name in media:
        path = folder / name
        try:
            most = limits.clip_bytes if path.suffix.lower() in CLIPS else limits.picture_bytes
            if path.stat().st_size > most:
                raise InvalidInput(f"more than {most:,} bytes", file=str(path))
            digests[name] = medium_digest(path)
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error.strerror}", file=str(path)) from error
    return digests


def medium_digest(path: Path) -> str:
    """The SHA-256 of a medium. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_media(folder: Path, names: Collection[str], digests: Mapping[str, str]) -> None:
    """Raise InvalidInput for a medium with another digest than in `digests`. It may be absent."""
    for name in sorted(set(names) & digests.keys()):
        path = folder / name
        if path.is_file() and medium_digest(path) != digests[name]:
            message = "not the medium of the build; repeat the command that began it"
            raise InvalidInput(message, file=str(path))
