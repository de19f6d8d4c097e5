"""What a build is made from."""

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
"""Of the questions about a picture, each is compared with each."""
VALIDATORS = 2


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The inputs, models and settings of a build.

    `questions` holds candidates that people or another program wrote. `most` is the number of
    questions per picture, category and generator, `per_category` that of each category in the end.
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

    What is hidden does not count, nor do files with other suffixes. Raises InvalidInput naming the
    file that is too large or cannot be read, and for none or too many.
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


def check_media(folder: Path, names: Collection[str], known: Mapping[str, str]) -> None:
    """Raise InvalidInput for a medium whose digest is not the `known` one. It may be absent."""
    for name in sorted(set(names) & known.keys()):
        path = folder / name
        if path.is_file() and medium_digest(path) != known[name]:
            message = "not the medium of the build: give the command that began it again"
            raise InvalidInput(message, file=str(path))
