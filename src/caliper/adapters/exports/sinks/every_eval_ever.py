"""Records in the format of Every Eval Ever, schema 0.3.0, laid out as its datastore has them.

    data/<benchmark>/<developer>/<model>/<uuid>.json            the figures of a benchmark
    data/<benchmark>/<developer>/<model>/<uuid>_samples.jsonl   its verdicts, if they are wanted

All bytes, and the uuid, follow from the run.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from pathlib import Path, PurePosixPath
from typing import Any

from caliper.adapters.exports.sinks.evaluation_record import (
    BenchmarkResult,
    evaluation_names,
    evaluation_record,
)
from caliper.adapters.exports.sinks.evaluation_samples import Texts, sample
from caliper.adapters.exports.sinks.selection import refuse_unfinished
from caliper.adapters.exports.sinks.where import HubDataset, split_where
from caliper.adapters.files import encode_text, open_replacement, store_error, write_text
from caliper.benchmarks.registry import benchmark_names
from caliper.core.errors import InvalidInput, UnknownName
from caliper.ports.prompts import PromptPack
from caliper.ports.sinks import Results

_RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_OPTIONS = ("model", "organization", "relationship", "texts")
# Characters that file names may not hold on every system.
_AWKWARD = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


class EveryEvalEverSink:
    """ports.sinks.Sink for a folder: `FOLDER,model=OWNER/NAME,organization=...,relationship=...`.

    `organization` publishes the results, and `relationship` is its to the model's developer. The
    option named like a benchmark says where its data are from, a dataset on the Hub or a URL, if
    they were not fetched from one.
    Verdicts hold references unless `texts=yes`: then also questions, right answers, captions and
    replies, which not every dataset allows to publish. Pictures never.
    """

    def __init__(self, where: str, pack: PromptPack) -> None:
        self._folder, options = split_where(where, (*_OPTIONS, *benchmark_names()))
        if not self._folder:
            raise InvalidInput("name a folder: every_eval_ever:FOLDER")
        relationship = options.get("relationship", "other")
        if relationship not in _RELATIONSHIPS:
            raise UnknownName("relationship", relationship, _RELATIONSHIPS)
        texts = options.get("texts", "no")
        if texts not in ("yes", "no"):
            raise UnknownName("value of texts", texts, ("yes", "no"))
        self._texts = texts == "yes"
        self._model = options.get("model", "")
        self._datasets = {
            name: text if "://" in text else HubDataset.parse(text, name)
            for name, text in options.items()
            if name not in _OPTIONS
        }
        self._source = {
            "source_organization_name": options.get("organization", "unknown"),
            "evaluator_relationship": relationship,
        }
        self._pack = pack

    def write(self, results: Results) -> str:
        """Write the files of each benchmark, the record last. Raises NotReady for a run that is not
        complete.
        """
        refuse_unfinished(results)
        texts = Texts.of(results) if self._texts and results.with_verdicts else None
        for part in results.report.benchmarks:
            dataset = self._datasets.get(part.name) or HubDataset.of_run(results.report, part.name)
            self._write(BenchmarkResult(results, part, dataset, self._model, self._pack), texts)
        return str(Path(self._folder) / "data")

    def _write(self, evaluation: BenchmarkResult, texts: Texts | None) -> None:
        name = _name(evaluation)
        companion = name.with_name(f"{name.stem}_samples.jsonl")
        record, path = evaluation_record(evaluation, self._source), Path(self._folder) / companion
        if evaluation.results.with_verdicts:
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": str(companion),
                "hash_algorithm": "sha256",
                **_write_samples(path, evaluation, texts),
            }
        text = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
        write_text(Path(self._folder) / name, text + "\n")
        if not evaluation.results.with_verdicts:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise store_error(path, error) from error


def _name(evaluation: BenchmarkResult) -> PurePosixPath:
    """The record's name in the datastore."""
    developer, _, model = evaluation.model.rpartition("/")
    name = f"{evaluation.results.spec.fingerprint}/{evaluation.part.name}"
    stem = uuid.UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4)
    portable = (_AWKWARD.sub("_", part) for part in (evaluation.part.name, developer, model))
    parts = (part.rstrip(". ") or "unknown" for part in portable)
    return PurePosixPath("data", *parts, f"{stem}.json")


def _write_samples(path: Path, evaluation: BenchmarkResult, texts: Texts | None) -> dict[str, Any]:
    """Write the verdicts that have a score; returns the record's entry about the file."""
    checksum, rows, unscored = hashlib.sha256(), 0, 0
    names = evaluation_names(evaluation.part)
    with open_replacement(path) as file:
        for row in evaluation.results.verdicts():
            if row.benchmark != evaluation.part.name:
                continue
            if row.score is None:
                unscored += 1
                continue
            line = json.dumps(
                sample(evaluation, row, names.get(row.dimension, row.benchmark), texts),
                sort_keys=True,
                ensure_ascii=False,
                allow_nan=False,
            )
            data = encode_text(line + "\n")
            checksum.update(data)
            file.write(data)
            rows += 1
    return {
        "checksum": checksum.hexdigest(),
        "total_rows": rows,
        "additional_details": {"left_out_without_score": str(unscored)},
    }
