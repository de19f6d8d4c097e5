"""Which tests `make test` runs, and which are left to `make test-rest`: those that need a real
component, files that take long, and in other files the tests that are marked `rest`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from tests.servers.components import COMPONENTS

LONG = {
    "adapters/hosts/test_endpoint.py": "kills loops, and waits for their leases to end",
    "adapters/media/test_thumbnail_bombs.py": "decodes huge pictures in a Python of its own",
    "adapters/remote/test_channel.py": "stops processes, and listens to one for longer than pings",
    "analysis/test_simulated*.py": "draws samples by the thousand",
    "bench/test_endpoint_run.py": "starts every command as a Python of its own",
    "bench/test_services.py": "starts stubs and peers as processes",
    "cli/test_agreement.py": "evaluates eight runs; analysis/test_agreement has the rules",
    "cli/test_analyze.py": "evaluates all benchmarks; analysis has the rules",
    "cli/test_analyze_capability.py": "evaluates seven runs; analysis/capability has the rules",
    "cli/test_analyze_comprecap.py": "evaluates four runs; analysis/comprecap has the rules",
    "cli/test_anchors.py": "evaluates time and again; wiring/test_run_anchors has the rules",
    "cli/test_blank_captions.py": "evaluates silence in every way; benchmarks have the rules",
    "cli/test_build.py": "builds again and again; building has the rules",
    "cli/test_captioner.py": "captions again and again; pipeline/asking has the rules",
    "cli/test_closed_streams.py": "starts every command as a Python of its own",
    "cli/test_endpoint.py": "waits for endpoints to come back, and kills commands",
    "cli/test_forked_commands.py": "starts every command twice",
    "cli/test_full_disk.py": "starts every command as a Python of its own",
    "cli/test_gate.py": "evaluates checkpoint after checkpoint; analysis/test_gate has the rules",
    "cli/test_gate_aa.py": "redraws verdicts by the thousand",
    "cli/test_leaderboard.py": "evaluates five runs; analysis/test_leaderboard has the rules",
    "cli/test_label_studio.py": "evaluates the examples; comparing and adapters have the rules",
    "cli/test_lean.py": "evaluates by each kind of judge; test_lazy is first",
    "cli/test_plugin.py": "starts every command as a Python of its own",
    "cli/test_resume.py": "evaluates 2,000 samples time and again, for kills to fall amid them",
    "cli/test_sequential_baselines.py": "evaluates a dozen checkpoints, and kills a loop",
    "cli/test_sequential_suites.py": "evaluates ten checkpoints; local/test_decided_runs is first",
    "cli/test_served_checkpoints.py": "kills loops, and waits for their leases to end",
    "cli/test_server.py": "serves and evaluates anew in every test",
    "cli/test_start.py": "starts every command as a Python of its own",
    "cli/test_stuffing.py": "evaluates the longest captions that there may be",
    "cli/test_suite_notices.py": "waits for receivers that refuse, and for loops",
    "cli/test_suites.py": "kills loops, and waits for their leases to end",
    "core/test_expressions.py": "times each of 240 expressions on 65,536 characters, text by text",
    "core/test_suspicion.py": "has examples by the hundred for each pattern",
    "docs/test_build.py": "builds, reviews and scores in a browser; building has the rules",
    "docs/test_cli_reference.py": "`make lint` has the check; starts it as a Python of its own",
    "docs/test_recipes.py": "starts servers and commands as processes",
    "examples/test_ci.py": "runs the action's scripts as processes",
    "lexical/test_properties.py": "has examples by the hundred, and texts of 300 kB",
    "library/test_exports.py": "runs what docs/python.md and a notebook have",
    "library/test_silence.py": "evaluates quiet checkpoints; analysis/test_gate has the rules",
    "local/test_data_fetch.py": "evaluates data by every name; adapters/datasets has the rules",
    "local/test_endpoint_faults.py": "waits for storms of errors to pass",
    "local/test_gateway_evaluator.py": "runs suites anew in every test",
    "local/test_gateway_serving.py": "serves and captions anew in every test",
    "model_servers/test_model_servers.py": "is for `make test-models` alone, and skipped elsewhere",
    "pipeline/aggregation/test_dispatcher.py": "simulates up to a hundred runs at a time",
    "pipeline/aggregation/test_lease.py": "has histories by the hundred",
    "pipeline/planning/test_simulated_order.py": "scores simulated runs again and again",
    "pipeline/test_damaged_objects.py": "ends a run for each object and damage",
    "pipeline/test_run_model.py": "tries interleavings of starts, kills and cancellations",
    "servers/test_process.py": "starts a Python for each kind of server, and kills it",
    "servers/test_summary.py": "starts pytest of its own, to see what it counts",
    "servers/test_tiers.py": "starts pytest three times, to see what it collects",
    "servers/test_time_limit.py": "starts pytest of its own, to see it stop a test",
    "services/test_access.py": "serves from a Python of its own",
    "services/test_access_settings.py": "starts services that refuse to start, a Python each",
    "services/test_anchors.py": "starts five processes; wiring/test_run_anchors has the rules",
    "services/test_another_checkpoint.py": "runs twice what pipeline/asking has the rules of",
    "services/test_media_questions.py": "runs twice what cli/test_media_questions has the rules of",
    "services/test_caps.py": "runs again what cli/test_caps has the rules of",
    "services/test_comparisons.py": "runs twice what pipeline/comparing has the rules of",
    "services/test_dead_letters.py": "waits for reports to heal; pipeline/gateway has the rules",
    "services/test_privileges.py": "runs whole evaluations as users with few rights",
    "services/test_stop_criteria.py": "runs twice what local/test_decided_runs has the rules of",
    "services/test_media_replies.py": "runs again what cli/test_media_questions has the rules of",
    "services/test_lives.py": "starts, stops and starts runs of all services",
    "services/test_metrics.py": "starts five processes",
    "services/test_one_process.py": "runs again what pipeline has the rules of",
    "services/test_packed_replies.py": "evaluates time and again; pipeline/store has the rules",
    "services/test_pages.py": "runs twice what adapters/pages has the rules of",
    "services/test_python_api.py": "runs twice what library has the rules of",
    "services/test_quotas.py": "evaluates for three teams; pipeline has the rules",
    "services/test_running_runs.py": "looks at runs that take their time",
    "services/test_traces.py": "runs whole evaluations to be traced",
    "serving/test_teams.py": "evaluates for three teams at once",
    "serving/test_upload_memory.py": "uploads 80 MB from a Python of its own, for its memory",
    "tools/test_protos.py": "`make lint` has the check; starts it in repositories of its own",
    "tools/test_release.py": "makes a release twice",
}
"""Files that take long, and why."""


_TESTS = Path(__file__).parents[1]
_FIXTURES = "|".join(name for each in COMPONENTS for name in each.fixtures)
_NEED = re.compile(
    rf"[(,]\s*({_FIXTURES})\s*[:,)]|[\"']({_FIXTURES})[\"']|\bmark\.(components|rest)\b"
)
"""A parameter, `usefixtures` and `getfixturevalue`, the marks."""


def in_rest(item: pytest.Item) -> bool:
    """Whether `make test` leaves this test out. Raises UsageError for one that `make test-rest`
    would not find.
    """
    if is_long(item.path):
        return True
    if not components(item) and item.get_closest_marker("rest") is None:
        return False
    if not may_be_in_rest(item.path):
        raise pytest.UsageError(f"{item.nodeid}: its file names no fixture of a server")
    return True


@cache
def is_long(path: Path) -> bool:
    """Whether all tests of this file take long."""
    return any(map(path.match, LONG))


@cache
def may_be_in_rest(path: Path) -> bool:
    """Whether `make test` may leave a test of this file out, by what the file and those with its
    fixtures say. `in_rest` refuses one that it leaves out although they do not.
    """
    if is_long(path):
        return True
    folders = [each for each in path.parents if each.is_relative_to(_TESTS) and each != _TESTS]
    beside = [file for each in folders if (file := each / "conftest.py").exists()]
    return any(_needs_some(file) for file in (path, *beside))


@cache
def _needs_some(file: Path) -> bool:
    return _NEED.search(file.read_text("utf-8")) is not None


def components(item: pytest.Item) -> set[str]:
    """The names of the real components that a test needs, by its fixtures or its module."""
    marked = {name for mark in item.iter_markers("components") for name in mark.args}
    fixtures = getattr(item, "fixturenames", ())
    return marked | {each.name for each in COMPONENTS if not each.fixtures.isdisjoint(fixtures)}
