"""Examinations, driven by scripts."""

from collections.abc import Callable, Generator, Sequence
from typing import Any


def driven(
    examination: Generator[Any, Any, Any], answer: Callable[[Any], Sequence[Any]]
) -> tuple[list[Any], Any]:
    """The batches that it asks, and its result."""
    batches: list[Any] = []
    answers: Any = None
    while True:
        try:
            batches.append(examination.send(answers))
        except StopIteration as stop:
            return batches, stop.value
        answers = answer(batches[-1])


def in_turn(*batches: Sequence[Any]) -> Callable[[Any], Sequence[Any]]:
    """These answers, one batch after the other, and no more."""
    left = list(batches)
    return lambda _: left.pop(0)
