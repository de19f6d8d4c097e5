"""The YAML file of a suite: the keys of a run's file, and how checkpoints are compared.

A benchmark of a suite has no source of captions, or a `captions` file within each checkpoint, or a
`captioner` whose SPEC may contain the checkpoint's {path} or {source}, {revision}, {name} and
{step}.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from caliper.adapters.datasets.caption_detection import SUFFIXES
from caliper.adapters.hosts.template import checkpoint_fields, fill
from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.packs.files import open_pack
from caliper.analysis.gate import Policy
from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json, digest, run_id
from caliper.core.suites import Baseline, Suite
from caliper.local.config import RunConfig, check_config, is_installed, relative_to
from caliper.local.data_fetch import fetch_now, named_values
from caliper.local.notify import NotifyTarget, stored_targets
from caliper.local.part_checks import answerer_spec
from caliper.local.policy import check_policy
from caliper.local.serve_config import ENDPOINT_FIELDS, ServeConfig, suite_serving
from caliper.local.setup import digests, open_sources
from caliper.local.sources import digest_of
from caliper.local.suite_checks import check_sequential, check_suite_parts, policy_of
from caliper.local.suite_keys import MonthlyBudget, SuiteBudget, SuiteKeys, SuiteRetention
from caliper.ports.serving import CheckpointEndpoint
from caliper.version import __version__
from caliper.wiring.specs import CHAT_KINDS
from caliper.wiring.strict import Strict, first_problem, line_of
from caliper.wiring.yaml_text import read_document

_RUN_KEYS = frozenset(
    {
        *("recipe", "benchmarks", "seed", "limit", "share_replies", "coverage_floor"),
        *("concurrency", "priority", "anchors", "pack", "export"),
    }
)
_NOT_MEASURED = {
    *("concurrency", "priority", "anchors", "share_replies", "max_calls", "max_tokens", "export")
}
_PLACES = {"data", "captions", "media", "qa", "qa_replies", "taxonomy"}
_PLACEHOLDER = "captions-of-the-checkpoint"


def read_suite(path: Path, *, installed: bool = False) -> Suite:
    """The suite in a YAML file; its paths are relative to the file's folder. `installed`: its
    judges, readers and captioners are named by an installation.

    Raises InvalidInput naming file, line and field.
    """
    root, values = read_document(path)
    if not isinstance(values, dict):
        raise InvalidInput("expected a mapping with the keys name and benchmarks", file=str(path))
    keys = _keys_of(values, path, root)
    captions = _captions_of(values.get("benchmarks"), path, root)
    run = {key: value for key, value in values.items() if key in _RUN_KEYS}
    if isinstance(run.get("benchmarks"), dict):
        run["benchmarks"] = {name: _with_captions(part) for name, part in run["benchmarks"].items()}
    caps = keys.budget.model_dump(exclude_none=True)
    month = caps.pop("month")
    run |= {f"max_{name}": cap for name, cap in caps.items()}
    config = relative_to(check_config(run, file=str(path), root=root), path.parent.absolute())
    check_suite_parts(config, served=keys.serve is not None, installed=installed)
    config = fetch_now(config)
    policy = policy_of(keys, path, root)
    if keys.judging == "sequential":
        check_sequential(keys, config, path, root)
    elif keys.alarms == "suite" or keys.target == "similar":
        field = "alarms" if keys.alarms == "suite" else "target"
        message, line = "only with judging: sequential", line_of(root, (field,))
        raise InvalidInput(message, file=str(path), line=line, field=field)
    values = {
        "run": named_values(config),
        "captions": captions,
        "policy": policy and asdict(policy),
        "margin": keys.margin,
        # Left out by default, so that earlier suites keep their versions.
        **({"judging": keys.judging} if keys.judging != "full" else {}),
        **({"alarms": keys.alarms} if keys.alarms != "checkpoint" else {}),
        **({"target": keys.target} if keys.target != "these" else {}),
        **({"month": month} if month else {}),
        "notify": stored_targets(keys.notify, path.parent),
    }
    if "timeout" in keys.model_fields_set:
        values["timeout"] = keys.timeout
    if keys.serve is not None:
        values["serve"] = keys.serve.model_dump(mode="json", exclude_defaults=True)
    # As when it is read back: lists for tuples.
    values = json.loads(canonical_json(values))
    baseline = Baseline.parse(keys.baseline)
    version = run_id(digest(_deciding(config, values, baseline)))
    keep = keys.retention.keep
    return Suite(keys.name, version, baseline, values, config.priority, keep, keys.step)


def _captions_of(benchmarks: Any, path: Path, root: yaml.Node | None) -> dict[str, str]:
    """Each benchmark's captions file within a checkpoint, if the suite names one."""
    parts = benchmarks if isinstance(benchmarks, dict) else {}
    named = {
        name: part["captions"]
        for name, part in parts.items()
        if isinstance(part, dict) and part.get("captions") is not None
    }
    for name, file in named.items():
        if not isinstance(file, str) or Path(file).is_absolute() or ".." in Path(file).parts:
            place = ("benchmarks", str(name), "captions")
            message = "expected a path within each checkpoint"
            line = line_of(root, place)
            raise InvalidInput(message, file=str(path), line=line, field=".".join(place))
    return named


def _with_captions(part: Any) -> Any:
    if isinstance(part, dict) and part.get("captioner") is None:
        return {**part, "captions": _PLACEHOLDER}
    return part


def _deciding(config: RunConfig, values: Mapping[str, Any], baseline: Baseline) -> dict[str, Any]:
    """All values that affect a result: files by digest, without places, costs or priorities."""
    measured = config.model_dump(
        mode="json",
        exclude_defaults=True,
        exclude={*_NOT_MEASURED, "pack"},
    )
    for name, part in config.benchmarks.items():
        values_by_key = {
            key: value for key, value in measured["benchmarks"][name].items() if key not in _PLACES
        }
        if is_installed(part.data):
            # The data under this name never change.
            data: dict[str, str | None] = {"data": str(part.data)}
        else:
            data = digests(name, open_sources(name, part.model_copy(update={"captions": None})))
        if part.taxonomy is not None:
            values_by_key["taxonomy"] = digest_of(part.taxonomy)
        if part.qa_replies is not None:
            values_by_key["qa_replies"] = digest_of(part.qa_replies)
        measured["benchmarks"][name] = {**values_by_key, **data, "qa": part.qa is True}
    serve = suite_serving(values)
    return {
        **({} if serve is None else {"serve": serve.deciding}),
        "caliper": __version__,
        "prompts": open_pack(config.pack).digest,
        "run": measured,
        "captions": values["captions"],
        "policy": values["policy"],
        "margin": values["margin"],
        "baseline": str(baseline),
        **{key: values[key] for key in ("judging", "alarms", "target") if key in values},
    }


def suite_run(
    suite: Suite, checkpoint: CheckpointRevision, served: CheckpointEndpoint | None = None
) -> RunConfig:
    """The configuration of the run that evaluates a checkpoint, which may be `served`. Raises
    InvalidInput.
    """
    config = check_config(suite.values["run"], file=f"suite {suite.name}")
    fields = checkpoint_fields(checkpoint)
    if served is not None:
        fields |= dict(zip(ENDPOINT_FIELDS, (served.url, served.model), strict=True))
    parts = {}
    for name, part in config.benchmarks.items():
        if part.captioner is not None:
            update: dict[str, Any] = {"captioner": fill(part.captioner, fields)}
        else:
            file = suite.values["captions"].get(name)
            update = {
                "captions": _captions_in(
                    Path(checkpoint.source), name, file, len(config.benchmarks)
                )
            }
        parts[name] = part.model_copy(update=update)
    return config.model_copy(update={"benchmarks": parts, "name": checkpoint.name})


def _captions_in(source: Path, name: str, file: str | None, benchmarks: int) -> Path:
    """A benchmark's captions in a checkpoint: the file that the suite names, else the one named
    after the benchmark, else the checkpoint itself if there is only one benchmark.
    """
    if source.is_file() and file is None and benchmarks == 1:
        return source
    endings = ("", *SUFFIXES)
    names = tuple(f"{name}{ending}" for ending in endings) if file is None else (file,)
    for each in names:
        if (source / each).exists():
            return source / each
    if file is None and benchmarks == 1 and source.is_dir():
        return source
    raise InvalidInput(f"no captions: expected {' or '.join(names)} in it", file=str(source))


def suite_policy(suite: Suite) -> Policy | None:
    """The policy of a suite's gate; None if it has only a margin, or no gate."""
    policy, margin = suite.values["policy"], suite.values["margin"]
    if policy is None:
        return None
    checks = [
        check
        if check["max_drop"] is not None or check["max_relative_drop"] is not None
        else {**check, "max_drop": margin}
        for check in policy["checks"]
    ]
    return check_policy({**policy, "checks": checks})


def without_revision(suite: Suite) -> list[str]:
    """Judges and readers whose SPEC names no revision: unless their server reports one, no replies
    are reused between checkpoints.
    """
    config = check_config(suite.values["run"])
    specs = {name: answerer_spec(name, part) for name, part in config.benchmarks.items()}
    return [f"{name}: {spec}" for name, spec in specs.items() if _lacks_revision(spec)]


def _lacks_revision(spec: str) -> bool:
    kind, _, rest = spec.partition(":")
    if kind in CHAT_KINDS:
        return not parse_endpoints(rest, kind)[0].revision
    return kind == "triton" and "revision=" not in rest


def _keys_of(values: dict[str, Any], path: Path, root: yaml.Node | None) -> SuiteKeys:
    own = {key: value for key, value in values.items() if key not in _RUN_KEYS}
    try:
        return SuiteKeys.model_validate(own)
    except ValidationError as error:
        first, *rest = error.errors()[0]["loc"]
        nested: dict[Any, type[Strict]] = {
            "budget": MonthlyBudget if rest[1:] else SuiteBudget,
            "retention": SuiteRetention,
            "notify": NotifyTarget,
            "serve": ServeConfig,
        }
        keys = (
            nested.get(first, SuiteKeys).model_fields
            if rest
            else {*SuiteKeys.model_fields, *_RUN_KEYS}
        )
        raise first_problem(error, keys, str(path), root) from error
