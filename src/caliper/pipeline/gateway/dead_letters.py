"""Lists dead letters of an installation and replays their jobs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from caliper.core.dead_letters import DEAD_LETTERS, Letter, mark, marked_letter, read_letter
from caliper.core.errors import InvalidInput
from caliper.core.messages import CaptionJob, ExamineJob, PlanJob
from caliper.pipeline.planning.publisher import CAPTION_JOBS, JOB_TOPICS, PLAN_JOBS
from caliper.ports.codec import Codec
from caliper.ports.stream import JobStream, LogReader


@dataclass(frozen=True, slots=True)
class StoredLetter:
    """A dead letter, and whether its job was replayed."""

    letter: Letter
    replayed: bool


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """A filter of letters by name, run and error class. Empty fields match all."""

    names: Collection[str] = ()
    run: str = ""
    error: str = ""

    def matches(self, letter: Letter) -> bool:
        """Whether a letter matches."""
        return (
            (not self.names or letter.name in self.names)
            and self.run in ("", letter.run)
            and self.error in ("", letter.error_class)
        )


async def find_letters(
    logs: LogReader, criteria: LetterFilter = LetterFilter()
) -> list[StoredLetter]:
    """The matching letters in the topic, in order.

    Raises InvalidInput for a name that no letter has, StreamUnavailable.
    """
    letters: list[Letter] = []
    replayed: set[str] = set()
    left = dict(await logs.ends(DEAD_LETTERS))
    if left:
        # Readers are generators that hold a connection until they are closed.
        async with aclosing(logs.read(DEAD_LETTERS, {})) as records:
            async for record in records:
                if (name := marked_letter(record)) is not None:
                    replayed.add(name)
                elif (letter := read_letter(record)) is not None:
                    letters.append(letter)
                if record.offset + 1 >= left.get(record.partition, 0):
                    left.pop(record.partition, None)
                if not left:
                    break
    unknown = sorted(set(criteria.names) - {letter.name for letter in letters})
    if unknown:
        raise InvalidInput(f"no dead letter {unknown[0]!r:.40}; `list` names all")
    return [
        StoredLetter(letter, letter.name in replayed)
        for letter in letters
        if criteria.matches(letter)
    ]


async def replay(stream: JobStream, letters: Sequence[StoredLetter]) -> list[StoredLetter]:
    """Publish the jobs of letters to their original topics. Returns the replayed letters.

    Letters that were replayed before are skipped. After a crash between publishing a job and
    marking its letter, the job is published again, which is harmless because of the ledger.
    Raises InvalidInput for a letter whose topic has no jobs, StreamUnavailable.
    """
    waiting = [entry for entry in letters if not entry.replayed]
    for entry in waiting:
        if entry.letter.job.topic not in JOB_TOPICS:
            origin = entry.letter.job.topic
            raise InvalidInput(
                f"dead letter {entry.letter.name} is not a job: topic {origin!r:.40}"
            )
    for entry in waiting:
        await stream.publish(entry.letter.job)
        await stream.publish(mark(entry.letter))
    return [replace(entry, replayed=True) for entry in waiting]


def read_job(letter: Letter, codec: Codec) -> PlanJob | CaptionJob | ExamineJob:
    """The job in a letter. Raises InvalidInput if it cannot be decoded."""
    data = letter.job.value
    if letter.job.topic == PLAN_JOBS:
        return codec.read_plan_job(data)
    if letter.job.topic == CAPTION_JOBS:
        return codec.read_caption_job(data)
    return codec.read_examine_job(data)
