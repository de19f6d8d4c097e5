"""The directory of a build.

build.json         settings, taxonomy, digests of the pictures, and the summary of each step
steps/*.jsonl      every candidate that entered a step, and if it was dropped, why
runs/              the runs of the steps that ask models, like those of evaluations, and pictures
                   with outlines for them
candidates.jsonl   the remaining candidates, with the validators' decisions: for review
reviews/*.jsonl    people's verdicts
scenes.jsonl       of scene graphs: the masks of all objects
captionqa.json     the reviewed questions, as a dataset (others: anno.json and compreqa/, or
                   capability/ and capability_qa/); card.md is its data card
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.jsonrows import line_rows
from caliper.adapters.datasets.jsontext import read_json
from caliper.adapters.files import encode_text, store_error, write_atomically, write_text
from caliper.building.candidates import AssessedCandidate, assessed_lines
from caliper.building.registry import KINDS
from caliper.building.steps import StepResult, fate_lines, read_fates, restore_step
from caliper.core.errors import InvalidInput, RunInUse
from caliper.core.keys import text_digest
from caliper.core.run import refuse_newer

SCHEMA = 1
_REVIEWS = "reviews"
_INPUTS = tuple(kind.inputs for kind in KINDS.values())


class BuildDirectory:
    """The directory of one build. Nothing is created before `claim`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def candidates(self) -> Path:
        """The file of candidates for review."""
        return self.path / "candidates.jsonl"

    @property
    def runs(self) -> Path:
        """The folder of the runs of model steps."""
        return self.path / "runs"

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Lock the directory for this process.

        Raises InvalidInput if it holds other files than a build's, RunInUse when another process
        has locked it, StoreUnavailable when it cannot be written.
        """
        if self.path.is_dir() and not (self.path / "build.json").exists():
            visible = {entry.name for entry in self.path.iterdir() if entry.name[0] != "."}
            if foreign := sorted(visible - {"steps", "runs", _REVIEWS, *_INPUTS}):
                raise InvalidInput(
                    f"contains {', '.join(foreign[:10])} but no build; choose a new or an empty "
                    "directory with --out",
                    file=str(self.path),
                )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / ".lock").open("w")
        except OSError as error:
            raise store_error(self.path, error) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                message = "another process is working on this build"
                raise RunInUse(message, file=str(self.path)) from error
            yield

    def read(self) -> dict[str, Any]:
        """The content of build.json; empty if there is none.

        Raises NewerSchema, or InvalidInput when it cannot be read.
        """
        file = self.path / "build.json"
        if not file.exists():
            return {}
        values = read_json(file)
        if not isinstance(values, dict):
            raise InvalidInput("expected an object", file=str(file))
        refuse_newer(values.get("schema"), str(file))
        return values

    def write(self, values: Mapping[str, Any]) -> None:
        """Write build.json. Raises StoreFull or StoreUnavailable."""
        text = json.dumps({"schema": SCHEMA, **values}, indent=2, ensure_ascii=False)
        write_atomically(self.path / "build.json", encode_text(text + "\n"))

    def step_file(self, name: str) -> Path:
        """The file of a step."""
        return self.path / "steps" / f"{name}.jsonl"

    def stored_step(self, summary: Mapping[str, Any], inputs: str) -> StepResult | None:
        """The step with this summary, if its file is intact and it had the same inputs."""
        if summary.get("inputs") != inputs:
            return None
        file = self.step_file(summary["step"])
        try:
            if text_digest(file.read_text("utf-8", "surrogatepass")) != summary["file"]:
                return None
        except (OSError, UnicodeDecodeError):
            return None
        return restore_step(summary, read_fates(line_rows(file)))

    def write_step(self, step: StepResult, inputs: str) -> dict[str, Any]:
        """Write a step's file; returns its summary. Raises StoreFull or StoreUnavailable."""
        text = encode_text(fate_lines(step.fates)).decode()
        write_text(self.step_file(step.name), text)
        return {**step.summary(), "inputs": inputs, "file": text_digest(text)}

    def write_candidates(self, candidates: Sequence[AssessedCandidate]) -> None:
        """Write the candidates for review. Raises StoreFull or StoreUnavailable."""
        write_text(self.candidates, assessed_lines(candidates))
