"""A run's directory: what people keep, and below `state/` what resuming needs.

run.yaml         everything resolved: the spec, and where things were
captions.jsonl   the captions that were examined
verdicts.*       one row a question, as JSON lines and as Parquet
report.*         the report for machines, for reading, and for browsing
execution.json   how the run went: times, calls, tokens (never part of a figure)
state/           the plan and the verdicts, as they came
"""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from caliper.adapters.files import encoded, write_atomically, write_text
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.stores.run_store import RunStore
from caliper.core.caption import Caption, CutShort
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.core.report import Reuse
from caliper.core.run import SCHEMA, RunSpec, refuse_newer
from caliper.pipeline.ledger.run_ledger import RunLedger, StoredRun
from caliper.pipeline.store.runs import CANCELLED, END, REFUSED, STARTED
from caliper.pipeline.store.supplies import read_written

DEFAULT_ROOT = Path("runs")


class RunDirectory:
    """The directory of one run. Nothing is created before `claim`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def default(cls, spec: RunSpec) -> RunDirectory:
        """`runs/<name>-<run id>`, with what no file system likes left out of the name."""
        name = re.sub(r"[^\w.+-]+", "-", spec.name).strip("-.") or "run"
        # File systems count bytes: names in other scripts need up to four a letter.
        short = name.encode()[:80].decode("utf-8", "ignore")
        return cls(DEFAULT_ROOT / f"{short}-{spec.run_id}")

    def store(self, spec: RunSpec, shared: Path | None = None) -> RunStore:
        """What the store of an installation would hold of this run, with replies in `shared`, by
        default beside the directory.
        """
        return RunStore(self.path, spec, DirectoryStore(shared or self.path.parent / ".store"))

    @property
    def stored(self) -> StoredRun:
        """The run, to be opened. Raises NewerSchema or InvalidInput where there is none."""
        spec = self.read_spec()
        return StoredRun(spec, self.store(spec), self.captions)

    async def captions(self, run: RunLedger) -> dict[str, dict[str, str]]:
        """Caption texts by benchmark and sample, as far as they are known.

        Raises InvalidInput when they cannot be read, StoreUnavailable.
        """
        found = self.read_captions()
        for part in run.spec.benchmarks:
            if part.captions is None:
                written = await read_written(self.store(run.spec), run.run, part.name)
                if written:
                    found[part.name] = {**found.get(part.name, {}), **written}
        return found

    @contextmanager
    def claim(self, spec: RunSpec) -> Iterator[None]:
        """Hold the directory for this run. It is gone again if nothing was kept in it.

        Raises InvalidInput when it holds another run or files of somebody else's, which
        ours could overwrite, or another process works in it,
        NewerSchema when a newer release wrote it, StoreUnavailable when it cannot be
        written.
        """
        self._refuse_foreign()
        state = self.path / "state"
        try:
            state.mkdir(parents=True, exist_ok=True)
            lock = (state / "lock").open("w")
        except OSError as error:
            raise StoreUnavailable(
                f"cannot write the run directory {self.path}: {error.strerror}; choose another "
                "with --out"
            ) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InvalidInput(
                    "another process is working on this run", file=str(self.path)
                ) from error
            try:
                self._refuse_another(spec)
                yield
            finally:
                if not (self.path / "run.yaml").exists():
                    self._leave_nothing()

    def _refuse_foreign(self) -> None:
        """A run that was killed before its run.yaml was there left `state/` and no more.

        Verdicts say whose they are, so beside them our reports are ours.
        """
        ours = (
            self.path / "run.yaml",
            self.path / "state" / "verdicts",
            self.path / "state" / "journal.jsonl",
        )
        if not self.path.is_dir() or any(path.exists() for path in ours):
            return
        with suppress(OSError):  # A folder that cannot be read cannot be written either.
            foreign = sorted(
                entry.name
                for entry in self.path.iterdir()
                if entry.name != "state" and not entry.name.startswith(".")
            )
            if foreign:
                raise InvalidInput(
                    f"contains {', '.join(foreign[:10])} but no run; choose a new or an empty "
                    "directory with --out",
                    file=str(self.path),
                )

    def _refuse_another(self, spec: RunSpec) -> None:
        if (self.path / "run.yaml").exists():
            held = self.read_spec()
            if held.fingerprint != spec.fingerprint:
                raise InvalidInput(
                    f"holds run {held.run_id} ({held.name}), not {spec.run_id}; choose another "
                    "directory with --out",
                    file=str(self.path),
                )

    def _leave_nothing(self) -> None:
        """Remove what a start noted of a run that could not be planned."""
        state = self.path / "state"
        with suppress(OSError):
            for name in ("lock", STARTED, CANCELLED, REFUSED):
                (state / name).unlink(missing_ok=True)
            for note in state.glob("run-index/*"):
                note.unlink()
        for folder in (state / "run-index", state, self.path):
            with suppress(OSError):
                folder.rmdir()

    def keep_spec(self, spec: RunSpec, asked: Mapping[str, Any]) -> None:
        """Write run.yaml: from now on the directory is this run's.

        Raises StoreFull or StoreUnavailable.
        """
        written = {
            "schema": SCHEMA,
            "run": spec.run_id,
            "fingerprint": spec.fingerprint,
            "spec": spec.to_json(),
            "config": dict(asked),
        }
        text = yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
        write_text(self.path / "run.yaml", text)

    def read_run(self) -> dict[str, Any]:
        """What run.yaml holds. Raises NewerSchema, or InvalidInput when it is none."""
        file = self.path / "run.yaml"
        try:
            written = yaml.safe_load(file.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise InvalidInput(f"not a run directory: {error}", file=str(file)) from error
        if not isinstance(written, dict):
            raise InvalidInput("not a run.yaml", file=str(file))
        refuse_newer(written.get("schema"), str(file))
        return written

    def read_spec(self) -> RunSpec:
        """The resolved spec in run.yaml. Raises NewerSchema or InvalidInput."""
        file = str(self.path / "run.yaml")
        spec = self.read_run().get("spec")
        if not isinstance(spec, dict):
            raise InvalidInput("no resolved spec", file=file, field="spec")
        return RunSpec.from_json(spec, file=file)

    def write_captions(self, captions: Mapping[str, Mapping[str, str]]) -> None:
        """captions.jsonl: one row a caption. Raises StoreFull or StoreUnavailable."""
        lines = (
            _caption_line(name, sample, text)
            for name, texts in captions.items()
            for sample, text in texts.items()
        )
        write_atomically(self.path / "captions.jsonl", b"".join(lines))

    def read_captions(self) -> dict[str, dict[str, str]]:
        """Caption texts by benchmark and sample, none where none were kept yet.

        A line that a crash cut off does not count. Raises InvalidInput naming the line.
        """
        file = self.path / "captions.jsonl"
        captions: dict[str, dict[str, str]] = {}
        try:
            *lines, _ = file.read_bytes().split(b"\n")
        except FileNotFoundError:
            return captions
        except OSError as error:
            raise InvalidInput(f"cannot read it: {error.strerror}", file=str(file)) from error
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                cut = row.get("truncated") is True
                caption = Caption(row["sample"], row["caption"], cut)
                captions.setdefault(row["benchmark"], {})[caption.sample] = caption.plain
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InvalidInput("no caption", file=str(file), line=number) from error
        return captions

    def begin(self) -> None:
        """Until its last file is there anew, the run has not ended."""
        for file in (self.path / "execution.json", self.path / "state" / END):
            file.unlink(missing_ok=True)

    @property
    def written(self) -> bool:
        """Whether an earlier process got as far as the last file."""
        return (self.path / "execution.json").exists()

    def write_execution(self, figures: Mapping[str, Any]) -> None:
        """execution.json. Raises StoreFull or StoreUnavailable."""
        text = json.dumps({"schema": SCHEMA, **figures}, indent=2, sort_keys=True)
        write_text(self.path / "execution.json", text + "\n")

    def read_execution(self) -> dict[str, Any]:
        """What execution.json holds, nothing where there is none yet.

        Raises NewerSchema, or InvalidInput when it cannot be read.
        """
        file = self.path / "execution.json"
        try:
            written = json.loads(file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InvalidInput(f"cannot be read: {error}", file=str(file)) from error
        if not isinstance(written, dict):
            raise InvalidInput("expected an object", file=str(file))
        refuse_newer(written.get("schema"), str(file))
        return written

    @property
    def reuse(self) -> Reuse | None:
        """What execution.json says of reused replies. Raises NewerSchema or InvalidInput."""
        told = self.read_execution().get("reuse")
        try:
            return None if told is None else Reuse(**told)
        except TypeError as error:
            file = str(self.path / "execution.json")
            raise InvalidInput(str(error), file=file, field="reuse") from error


def _caption_line(benchmark: str, sample: str, text: str) -> bytes:
    row: dict[str, Any] = {"benchmark": benchmark, "sample": sample, "caption": text}
    if isinstance(text, CutShort):
        row["truncated"] = True
    return encoded(json.dumps(row, ensure_ascii=False)) + b"\n"


def find_run(name: str) -> RunDirectory:
    """The run directory at a path, or the one below `runs/` with that name or run id.

    Raises InvalidInput saying which runs there are.
    """
    path = Path(name)
    if (path / "run.yaml").is_file():
        return RunDirectory(path)
    known = sorted(file.parent for file in DEFAULT_ROOT.glob("*/run.yaml"))
    matching = [run for run in known if run.name == name or run.name.endswith(f"-{name}")]
    if len(matching) == 1:
        return RunDirectory(matching[0])
    there = ", ".join(run.name for run in known[-10:]) or "none yet"
    raise InvalidInput(f"no run directory; below {DEFAULT_ROOT}/ there are: {there}", file=name)


def finished_runs() -> list[RunDirectory]:
    """The runs below `runs/` that have a report, by name."""
    return [RunDirectory(file.parent) for file in sorted(DEFAULT_ROOT.glob("*/report.json"))]
