"""A run's directory: its results, and below `state/` the data for resuming.

run.yaml         the resolved spec and the configuration
captions.jsonl   the captions that were examined
verdicts.*       one row per question, as JSON lines and as Parquet
report.*         the report as JSON, Markdown and HTML
execution.json   times, calls and tokens of the run (never part of a figure)
state/           the plan, and the verdicts in order of arrival
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

from caliper.adapters.files import encode_text, write_atomically, write_text
from caliper.adapters.plain_yaml import dump_yaml, load_yaml
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.stores.run_store import RunStore
from caliper.core.caption import Caption, CutShort
from caliper.core.errors import InvalidInput, RunInUse, StoreUnavailable
from caliper.core.report import Reuse
from caliper.core.run import SCHEMA, BenchmarkSpec, RunSpec, refuse_newer
from caliper.local.directory_run import DirectoryRun
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.ledger.runs import StoredRun
from caliper.pipeline.reports.report_files import TextsOf, captions_of_run
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.store.runs import CANCELLED, REFUSED, STARTED, forget_end, run_store
from caliper.pipeline.store.supplies import read_own_captions
from caliper.wiring.yaml_text import not_yaml

DEFAULT_ROOT = Path("runs")


class RunDirectory:
    """The directory of one run. Nothing is created before `claim`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def default(cls, spec: RunSpec) -> RunDirectory:
        """`runs/<name>-<run id>`, without characters that are awkward in file names."""
        name = re.sub(r"[^\w.+-]+", "-", spec.name).strip("-.") or "run"
        # File systems count bytes: letters of other scripts take up to four each.
        short = name.encode()[:80].decode("utf-8", "ignore")
        return cls(DEFAULT_ROOT / f"{short}-{spec.run_id}")

    def store(self, spec: RunSpec, shared: Path | None = None) -> RunStore:
        """This run's view of a store, as in an installation. Replies are in `shared`, by default
        in `.store` beside the directory. They are not synced: a reply lost in a crash of the
        machine is requested again.
        """
        replies = DirectoryStore(shared or self.path.parent / ".store", synced=False)
        return RunStore(self.path, spec, replies)

    @property
    def stored_run(self) -> StoredRun:
        """The run, ready to be opened. Raises NewerSchema, or InvalidInput if there is none."""
        spec = self.read_spec()
        return DirectoryRun(spec, self.store(spec), self.captions)

    async def captions(self, run: RunLedger) -> Captions:
        """The known captions of a run. Raises InvalidInput or StoreUnavailable."""
        return await captions_of_run(self.texts_of(run.spec), run)

    def texts_of(self, spec: RunSpec) -> TextsOf:
        """A function that finds captions in captions.jsonl and those of the run's captioner."""
        stored, store = self.read_captions(), self.store(spec)

        async def texts_of(name: str, part: BenchmarkSpec) -> Mapping[str, str]:
            texts = stored.get(part.name, {})
            if part.captions is not None:
                return texts
            return {**texts, **await read_own_captions(store, name, part.name)}

        return texts_of

    @contextmanager
    def claim(self, spec: RunSpec) -> Iterator[None]:
        """Lock the directory for this run; afterwards it is removed if it has no run.yaml.

        Raises InvalidInput when it contains another run or unrelated files, which could be
        overwritten; RunInUse when another process has locked it; NewerSchema when a newer release
        wrote it; StoreUnavailable when it cannot be written.
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
                raise RunInUse(
                    "another process is working on this run", file=str(self.path)
                ) from error
            try:
                self._refuse_another(spec)
                yield
            finally:
                if not (self.path / "run.yaml").exists():
                    self._remove_state()

    def _refuse_foreign(self) -> None:
        """Refuse a directory with files but without a run.

        A run that was killed before it wrote its run.yaml leaves only `state/`. Verdicts name
        their run, so reports next to verdicts belong to it.
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
            other = self.read_spec()
            if other.fingerprint != spec.fingerprint:
                raise InvalidInput(
                    f"holds run {other.run_id} ({other.name}), not {spec.run_id}; choose another "
                    "directory with --out",
                    file=str(self.path),
                )

    def _remove_state(self) -> None:
        """Remove the files of a start whose run could not be planned."""
        state = self.path / "state"
        with suppress(OSError):
            for name in ("lock", STARTED, CANCELLED, REFUSED):
                (state / name).unlink(missing_ok=True)
            for note in state.glob("run-index/*"):
                note.unlink()
        for folder in (state / "run-index", state, self.path):
            with suppress(OSError):
                folder.rmdir()

    def write_spec(self, spec: RunSpec, record: Mapping[str, Any]) -> None:
        """Write run.yaml with a `config_record`, which makes the directory this run's.

        Raises StoreFull or StoreUnavailable.
        """
        values = {
            "schema": SCHEMA,
            "run": spec.run_id,
            "fingerprint": spec.fingerprint,
            "spec": spec.to_json(),
            **record,
        }
        write_text(self.path / "run.yaml", dump_yaml(values))

    def read_run(self) -> dict[str, Any]:
        """The content of run.yaml. Raises NewerSchema, or InvalidInput if it is invalid."""
        file = self.path / "run.yaml"
        try:
            values = load_yaml(file.read_text("utf-8"))
        except yaml.YAMLError as error:
            raise not_yaml(file, error) from error
        except (OSError, ValueError, RecursionError) as error:
            raise InvalidInput(f"not a run directory: {error}", file=str(file)) from error
        if not isinstance(values, dict):
            raise InvalidInput("not a run.yaml", file=str(file))
        refuse_newer(values.get("schema"), str(file))
        return values

    def read_spec(self) -> RunSpec:
        """The resolved spec in run.yaml. Raises NewerSchema or InvalidInput."""
        file = str(self.path / "run.yaml")
        spec = self.read_run().get("spec")
        if not isinstance(spec, dict):
            raise InvalidInput("no resolved spec", file=file, field="spec")
        return RunSpec.from_json(spec, file=file)

    def write_captions(self, captions: Mapping[str, Mapping[str, str]]) -> None:
        """Write captions.jsonl, one row per caption. Raises StoreFull or StoreUnavailable."""
        lines = (
            _caption_line(name, sample, text)
            for name, texts in captions.items()
            for sample, text in texts.items()
        )
        write_atomically(self.path / "captions.jsonl", b"".join(lines))

    def read_captions(self) -> dict[str, dict[str, str]]:
        """The texts in captions.jsonl by benchmark and sample; empty without the file.

        A last line truncated by a crash is ignored. Raises InvalidInput naming the line.
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
                raise InvalidInput("not a caption", file=str(file), line=number) from error
        return captions

    async def begin(self, spec: RunSpec) -> None:
        """Mark the run as not ended. Raises StoreFull or StoreUnavailable."""
        (self.path / "execution.json").unlink(missing_ok=True)
        await forget_end(run_store(self.store(spec), spec.run_id))

    @property
    def is_finished(self) -> bool:
        """Whether an earlier process wrote the last file."""
        return (self.path / "execution.json").exists()

    def write_execution(self, figures: Mapping[str, Any]) -> None:
        """Write execution.json. Raises StoreFull or StoreUnavailable."""
        text = json.dumps({"schema": SCHEMA, **figures}, indent=2, sort_keys=True)
        write_text(self.path / "execution.json", text + "\n")

    def read_execution(self) -> dict[str, Any]:
        """The content of execution.json; empty if it does not exist yet.

        Raises NewerSchema, or InvalidInput when it cannot be read.
        """
        file = self.path / "execution.json"
        try:
            values = json.loads(file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise InvalidInput(f"cannot be read: {error}", file=str(file)) from error
        if not isinstance(values, dict):
            raise InvalidInput("expected an object", file=str(file))
        refuse_newer(values.get("schema"), str(file))
        return values

    @property
    def reuse(self) -> Reuse | None:
        """The reuse of replies in execution.json. Raises NewerSchema or InvalidInput."""
        fields = self.read_execution().get("reuse")
        try:
            return None if fields is None else Reuse(**fields)
        except TypeError as error:
            file = str(self.path / "execution.json")
            raise InvalidInput(str(error), file=file, field="reuse") from error


def _caption_line(benchmark: str, sample: str, text: str) -> bytes:
    row: dict[str, Any] = {"benchmark": benchmark, "sample": sample, "caption": text}
    if isinstance(text, CutShort):
        row["truncated"] = True
    return encode_text(json.dumps(row, ensure_ascii=False)) + b"\n"


def find_run(name: str) -> RunDirectory:
    """The run directory at a path, or the one below `runs/` with that name or run id.

    Raises InvalidInput listing the existing runs.
    """
    path = Path(name)
    if (path / "run.yaml").is_file():
        return RunDirectory(path)
    folders = sorted(file.parent for file in DEFAULT_ROOT.glob("*/run.yaml"))
    matching = [run for run in folders if run.name == name or run.name.endswith(f"-{name}")]
    if len(matching) == 1:
        return RunDirectory(matching[0])
    names = ", ".join(run.name for run in folders[-10:]) or "none yet"
    raise InvalidInput(f"no run directory; below {DEFAULT_ROOT}/ there are: {names}", file=name)
