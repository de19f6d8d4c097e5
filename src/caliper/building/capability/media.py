"""The media that each dimension is annotated on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from caliper.benchmarks.capability.tasks import NAMES, TASKS, Medium
from caliper.building.balance import balance
from caliper.building.candidates import Candidate
from caliper.building.capability.annotations import annotation
from caliper.building.steps import Fate, keep_all
from caliper.core.errors import UnknownName
from caliper.core.rows import Row


@dataclass(frozen=True, slots=True)
class ListedMedium:
    """A medium of a list: its dimensions (empty: all of its kind) and tags."""

    path: str
    tasks: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()


def read_media(rows: Iterable[Row], known: Collection[str]) -> list[ListedMedium]:
    """Media from rows {file_path, tasks?, tags?}. Raises InvalidInput naming file, line and field,
    also for a medium that is not among `known`.
    """
    media: dict[str, ListedMedium] = {}
    for row in rows:
        path = row.text("file_path")
        if path not in known:
            raise row.error("file_path", f"no such medium: {path!r:.80}")
        if path in media:
            raise row.error("file_path", f"{path!r:.80} appears twice")
        tasks, tags = _texts(row, "tasks"), _texts(row, "tags")
        for name in tasks:
            if name not in TASKS:
                raise row.error("tasks", str(UnknownName("task", name, NAMES)))
        media[path] = ListedMedium(path, frozenset(tasks), tags)
    return list(media.values())


def _texts(row: Row, name: str) -> tuple[str, ...]:
    values = row.fields.get(name) or []
    if not isinstance(values, list | tuple) or not all(isinstance(each, str) for each in values):
        raise row.error(name, f"expected a list of texts, found {values!r:.60}")
    return tuple(values)


def media_of_dimensions(
    media: Iterable[ListedMedium],
    tasks: Collection[str],
    clips: Collection[str],
    annotated: Collection[tuple[str, str]] | None = None,
) -> tuple[Fate, ...]:
    """Every dimension with the media of its kind: static ones have pictures, dynamic ones clips
    (paper 3.1). `annotated` are the pairs that have annotations already, None for any.

    A candidate of this step names no element; its answer has the medium's tags.
    """
    candidates = []
    for each in media:
        kind = Medium.VIDEO if each.path in clips else Medium.IMAGE
        for name in tasks:
            task = TASKS[name]
            suits = task.media is kind and (not each.tasks or name in each.tasks)
            if suits and (annotated is None or (each.path, name) in annotated):
                candidates.append(annotation(task, each.path, ", ".join(each.tags) or kind.value))
    return keep_all(candidates)


def draw_media(fates: tuple[Fate, ...], most: int | None, seed: int) -> tuple[Fate, ...]:
    """At most `most` media per dimension, spread over their tags, drawn by `seed`."""
    return balance(fates, most, seed, _tags)


def _tags(candidate: Candidate) -> str:
    return candidate.answer


def keep_drawn_media(
    candidates: Iterable[Candidate], drawn: Iterable[Candidate]
) -> tuple[Fate, ...]:
    """Drop annotations of media that are not drawn for their dimension, or not of its kind."""
    places = {(each.image, each.category) for each in drawn}
    return tuple(
        Fate(each, "" if (each.image, each.category) in places else "medium is not drawn")
        for each in candidates
    )


def group_by_medium(candidates: Iterable[Candidate]) -> Mapping[str, list[str]]:
    """The dimensions of each medium."""
    media: dict[str, list[str]] = {}
    for candidate in candidates:
        media.setdefault(candidate.image, []).append(candidate.category)
    return media
