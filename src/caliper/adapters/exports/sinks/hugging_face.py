"""The headline figures as evaluation results of a model on the Hugging Face Hub.

A model's repository holds them as `.eval_results/*.yaml`; an entry names a dataset that is a
benchmark on the Hub, and one of its tasks. There is a file per benchmark, so that files of other
origin stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import huggingface_hub
import yaml
from httpx2 import HTTPError
from huggingface_hub.errors import HfHubHTTPError, HFValidationError

from caliper.adapters.caption_warnings import stuffing_warnings
from caliper.adapters.exports.sinks.selection import refuse_unfinished
from caliper.adapters.exports.sinks.where import HubDataset, split_where
from caliper.adapters.files import write_text
from caliper.adapters.phrases import heading, interval, label, notes
from caliper.adapters.provenance import facts
from caliper.benchmarks.registry import benchmark_names
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.core.report import BenchmarkReport
from caliper.ports.sinks import Results

_FOLDER = ".eval_results"
_SOURCES = ("source", "source_name", "source_user", "source_org")


class HuggingFaceSink:
    """ports.sinks.Sink for the checkout of a model's repository: `FOLDER,BENCHMARK=DATASET,...`.

    A benchmark is written if an option names its dataset, or if its data were fetched from the Hub.
    `source` is a link to more about the results.
    """

    def __init__(self, where: str) -> None:
        self.place, options = split_where(where, (*benchmark_names(), *_SOURCES))
        if not self.place:
            raise InvalidInput("name the folder of a model's repository: hf:FOLDER")
        self._source = {name: options.pop(name) for name in _SOURCES if name in options}
        self._datasets = {name: HubDataset.parse(text, name) for name, text in options.items()}
        if self._source and "source" not in self._source:
            raise InvalidInput("missing; the other source options need it", field="source")

    def write(self, results: Results) -> str:
        folder, files = Path(self.place), self.files(results)
        for name in files:
            _refuse_another(folder / name, results.run)
        for name, text in files.items():
            write_text(folder / name, text)
        return str(folder / _FOLDER)

    def files(self, results: Results) -> dict[str, str]:
        """The text of each file, by its path in the repository.

        Raises NotReady for a run that is not complete, and InvalidInput where a dataset is not
        named or its headline has no data.
        """
        refuse_unfinished(results)
        parts = {part.name: part for part in results.report.benchmarks}
        fetched = {name: HubDataset.of_run(results.report, name) for name in parts}
        datasets = {name: self._datasets.get(name) or fetched[name] for name in sorted(parts)}
        targets = {name: dataset for name, dataset in datasets.items() if dataset is not None}
        if not targets:
            names = " or ".join(f"{name}=OWNER/NAME" for name in parts)
            raise InvalidInput(f"name the dataset on the Hub: {names}", file=self.place)
        return {
            f"{_FOLDER}/caliper-{name}.yaml": self._text(results, parts[name], dataset)
            for name, dataset in targets.items()
        }

    def _text(self, results: Results, part: BenchmarkReport, dataset: HubDataset) -> str:
        estimate = part.estimates.get(part.headline)
        if estimate is None or estimate.value is None:
            raise InvalidInput("its headline has no data", file=results.run, field=part.name)
        source = self._source
        entry = huggingface_hub.EvalResultEntry(
            dataset_id=dataset.name,
            task_id=dataset.task,
            dataset_revision=dataset.revision,
            value=estimate.value,
            date=results.ended,
            source_url=source.get("source"),
            source_name=source.get("source_name"),
            source_user=source.get("source_user"),
            source_org=source.get("source_org"),
            notes="; ".join(_notes(results, part)),
        )
        document = huggingface_hub.eval_result_entries_to_yaml([entry])
        return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)


def _refuse_another(path: Path, run: str) -> None:
    """Raise InvalidInput if the file holds the results of another run, which would be lost."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise StoreUnavailable(f"{path}: {error}") from error
    if f"run {run}:" not in text:
        message = "holds the results of another run; remove it first to replace them"
        raise InvalidInput(message, file=str(path))


def _notes(results: Results, part: BenchmarkReport) -> Iterator[str]:
    """Notes on what the value is, how it was made, and whatever forbids a comparison."""
    loud, quiet = notes(part)
    yield from (f"{heading(note)}: {note}" for note in loud)
    yield from stuffing_warnings(results.report)
    yield f"Caliper {results.spec.version}, run {results.run}: {label(part, part.headline)}"
    if span := interval(part.estimates[part.headline]):
        yield f"95% interval {span}"
    if results.spec.limit is not None:
        yield f"only {results.spec.limit:,} items drawn per task or domain"
    facts_of_part = facts(part, results.report.spec)
    yield from (f"{fact.label}: {fact.text}" for fact in facts_of_part if fact.brief)
    yield from quiet


class HubPullRequestSink:
    """ports.sinks.Sink that proposes the files to a model on the Hub, by a pull request:
    `OWNER/NAME,BENCHMARK=DATASET,...`. Results of the same run go into the one that is open.

    The Hub is the one that `HF_ENDPOINT` names, and the token that of `HF_TOKEN` or a login.
    """

    def __init__(self, where: str) -> None:
        self._files = HuggingFaceSink(where)
        self._model = self._files.place
        if self._model.count("/") != 1:
            raise InvalidInput(f"expected OWNER/NAME of a model, found {self._model!r}")

    def write(self, results: Results) -> str:
        files = self._files.files(results)
        with _hub_errors(self._model):
            return self._propose(f"Caliper: evaluation results of run {results.run}", files)

    def _propose(self, title: str, files: Mapping[str, str]) -> str:
        api = huggingface_hub.HfApi()
        proposals = api.get_repo_discussions(
            self._model, discussion_type="pull_request", discussion_status="open"
        )
        earlier = next((each for each in proposals if each.title == title), None)
        where: dict[str, Any] = (
            {"create_pr": True} if earlier is None else {"revision": earlier.git_reference}
        )
        operations = [
            huggingface_hub.CommitOperationAdd(name, text.encode()) for name, text in files.items()
        ]
        commit = api.create_commit(self._model, operations, commit_message=title, **where)
        return str(commit.pr_url or (earlier.url if earlier else commit.commit_url))


@contextmanager
def _hub_errors(model: str) -> Iterator[None]:
    """Failures of the Hub as StoreUnavailable or InvalidInput, without the request."""
    try:
        yield
    except HfHubHTTPError as error:
        status = error.response.status_code
        reason = error.server_message or error.response.reason_phrase
        if status >= 500:
            raise StoreUnavailable(f"the Hub does not answer: {status} {reason}") from error
        advice = "; set HF_TOKEN or run hf auth login" if status in (401, 403) else ""
        raise InvalidInput(f"the Hub refuses it: {status} {reason}{advice}", file=model) from error
    except HFValidationError as error:
        raise InvalidInput(str(error), file=model) from error
    except (HTTPError, OSError) as error:
        raise StoreUnavailable(f"cannot reach the Hub: {type(error).__name__}") from error
