"""Functions of the caller as captioners, judges and readers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from caliper.adapters.models.function import KIND, FunctionModel
from caliper.core.errors import InvalidInput
from caliper.core.run import Identity


@dataclass(frozen=True, slots=True)
class Model:
    """A function of yours as a captioner, judge or reader.

    A captioner takes a list with the pictures of each sample (a list of PIL images: one, or
    several pages, or the frames of a clip), and the prompts if it has a second parameter. A judge
    or reader takes a list of prompts. Both return a list of as many texts. A plain function is
    called in a thread, once at a time with at most `batch` inputs; an `async` one with one input,
    many times at once.

    With a `name` and a `revision`, which must change whenever replies may, replies are kept and
    runs can be resumed. Without a revision nothing is reused: every evaluation is another run.

    >>> Model(lambda images: ["A dog."] * len(images), name="toy", revision="1")
    Model(name='toy', revision='1', batch=1)
    """

    function: Callable[..., Any] = field(repr=False)
    name: str = ""
    revision: str = ""
    batch: int = 1
    origin: str = field(default_factory=lambda: uuid4().hex, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInput(f"expected a function, found {self.function!r:.60}")
        for key in ("name", "revision"):
            text = getattr(self, key)
            if not isinstance(text, str) or (text and not text.strip()):
                raise InvalidInput(f"expected a text, found {text!r:.60}", field=key)
        if self.revision and not self.name:
            raise InvalidInput("a revision needs a name", field="name")
        if self.batch < 1:
            raise InvalidInput("at least 1", field="batch")

    @property
    def label(self) -> str:
        """The name of the model, else of its function."""
        return self.name or getattr(self.function, "__name__", "function").strip("<>")

    @property
    def spec(self) -> str:
        """The SPEC of the function in the configuration of a run."""
        return f"{KIND}:{self.label}@{self.revision or self.origin}"

    def open(self) -> FunctionModel:
        """The model, for one event loop."""
        if self.revision:
            identity = Identity(KIND, self.label, self.revision, cached=True)
        else:
            identity = Identity(KIND, self.label, "", origin=self.origin)
        return FunctionModel(self.function, identity, self.batch)
