"""docs/endpoints.md and docs/triton.md: every fault has tests, and every case of one is here."""

from __future__ import annotations

import re

import pytest
from tests.fakes.sources import ROOT

RUNS = "local/test_endpoint_faults.py"
LASTING = f"{RUNS}::test_lasting_trouble_of_some_requests"
PASSING = f"{RUNS}::test_trouble_that_passes_leaves_no_trace"
RESTART = f"{RUNS}::test_a_server_that_is_started_anew"
CAPTIONER = "pipeline/asking/test_captioner.py"
BLANK = f"{CAPTIONER}::test_a_completion_without_text_is_a_blank_caption"
WITHHELD = f"{CAPTIONER}::test_what_the_model_did_not_end_is_no_caption"
SCHEMAS = "adapters/models/test_tgi_schemas.py"
TLS = "adapters/models/test_tls.py"
TRITON_TLS = "adapters/models/test_triton_tls.py"
TRITON_RUNS = "local/test_triton_runs.py"
TRITON = "adapters/models/test_triton_faults.py"
CONTROL = "adapters/models/test_triton_control.py"

Tests = dict[str, list[str]]
"""The tests of a fault, each with its cases if it has any."""

FAULTS: dict[str, Tests] = {
    "connection refused": {RESTART: [], "cli/test_endpoint.py::test_an_endpoint_that_is_down": []},
    "connection reset, server error (500), HTML, invalid UTF-8, reply broken off": {
        LASTING: [
            "cut at once",
            "reset in mid-body",
            "500",
            "html",
            "utf-8 cut in half",
            "broken off",
        ],
        PASSING: ["connections cut", "500", "a proxy in front of nothing"],
    },
    "no answer, slow headers": {LASTING: ["no answer", "slow headers"]},
    "endless reply": {
        LASTING: ["a reply that never ends, slowly", "a reply that never ends, fast", "gzip bomb"]
    },
    "429, 503, server restart": {
        LASTING: ["429", "429 with Retry-After", "503"],
        PASSING: [
            "a storm of 429",
            "a storm of 429 with Retry-After",
            "a storm of 503 with Retry-After",
            "503 while it loads",
        ],
        RESTART: [],
    },
    "401, 404, 413": {
        LASTING: ["401", "404", "413"],
        f"{RUNS}::test_a_token_that_is_no_longer_taken": [],
    },
    "context too long": {
        LASTING: ["context too long"],
        f"{TRITON}::test_a_context_that_is_too_short_names_what_to_lower": [],
    },
    "certificate not trusted, or of another host": {
        f"{TLS}::test_who_is_not_trusted_is_told_nothing": [],
        f"{TLS}::test_a_call_is_refused_as_the_first_question_is": [],
        f"{TRITON_TLS}::test_who_is_not_trusted_is_not_asked": [],
    },
    "empty reply, tool call": {
        LASTING: ["empty content"],
        BLANK: [],
        f"{TRITON}::test_an_empty_answer_stays_empty": [],
    },
    "refusal": {LASTING: ["refusal"], BLANK: []},
    "only thoughts, or cut at the token limit": {
        LASTING: ["cut at the limit"],
        BLANK: [],
    },
    "content filter": {
        LASTING: ["content filter"],
        WITHHELD: [],
    },
    "no completion": {WITHHELD: []},
    "schema ignored": {
        LASTING: ["schema ignored"],
        f"{SCHEMAS}::test_an_ignored_schema_is_left_out_from_then_on": [],
        f"{SCHEMAS}::test_a_schema_goes_in_the_form_that_is_obeyed": [],
    },
    "model or revision switched": {
        f"{RUNS}::test_another_revision_in_mid_run_stops_it": [],
        f"{RUNS}::test_another_revision_without_a_break_stops_the_run": [],
        "cli/test_endpoint.py::test_another_model_than_the_one_resolved_stops_the_run": [],
    },
    "one of two replicas dies": {f"{RUNS}::test_one_of_two_endpoints_dies": []},
}
FAULTS_OF_TRITON: dict[str, Tests] = {
    "queue full": {
        f"{TRITON}::test_a_full_queue_is_overload": [],
        f"{CONTROL}::test_a_full_queue_of_a_decoupled_model_is_overload": [],
    },
    "model unloaded, server restarted or away": {
        f"{TRITON_RUNS}::test_a_model_that_is_away_for_a_while": [],
        "adapters/models/test_embedder_pool.py::"
        "test_a_real_model_that_is_unloaded_for_a_while_is_waited_for": [],
        f"{TRITON}::test_nobody_listens": [],
    },
    "model fails, crashes or breaks off; invalid UTF-8": {
        f"{TRITON}::test_a_model_that_fails_may_be_asked_again": [],
        f"{TRITON}::test_a_vllm_answer_that_is_none": [],
        f"{TRITON}::test_a_caption_cut_in_the_middle_of_a_character": [],
    },
    "no answer within `CALIPER_TIMEOUT`, endless stream": {
        f"{TRITON}::test_a_slow_model_meets_the_deadline": [],
        f"{TRITON}::test_a_stream_that_is_silent_meets_the_deadline_and_is_cancelled": [],
        f"{TRITON}::test_a_stream_without_end_is_left_at_the_limit_of_its_tokens": [],
    },
    "too many pictures, wrong shape": {
        f"{TRITON}::test_a_request_that_does_not_fit_is_refused": []
    },
    "another version, weights or model": {
        f"{TRITON_RUNS}::test_another_version_stops_the_run": [],
        f"{TRITON_RUNS}::test_another_embedder_stops_the_run": [],
        f"{TRITON_RUNS}::test_a_server_that_is_restarted_with_another_model": [],
        f"{CONTROL}::test_other_weights_under_the_same_version_stop_the_run": [],
    },
}
TESTS = [
    (test, case)
    for tests in (*FAULTS.values(), *FAULTS_OF_TRITON.values())
    for test, cases in tests.items()
    for case in cases or [""]
]


def rows(page: str, heading: str) -> list[str]:
    """The first cells of the table below a heading of docs/<page>, without its head."""
    text = (ROOT / "docs" / page).read_text("utf-8").partition(f"\n{heading}\n")[2]
    return re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)[1:]


@pytest.mark.parametrize(
    ("page", "heading", "faults"),
    [("endpoints.md", "## Faults", FAULTS), ("triton.md", "## Trouble", FAULTS_OF_TRITON)],
)
def test_every_fault_of_the_page_has_tests(
    page: str, heading: str, faults: dict[str, Tests]
) -> None:
    assert rows(page, heading) == list(faults)


@pytest.mark.parametrize(("test", "case"), TESTS)
def test_every_named_test_and_case_exists(test: str, case: str) -> None:
    path, _, name = test.partition("::")
    source = (ROOT / "tests" / path).read_text("utf-8")
    assert re.search(rf"^(?:async )?def {name}\(", source, re.MULTILINE)
    assert not case or f'"{case}": ' in source


def test_every_case_of_a_fault_is_named() -> None:
    source = (ROOT / "tests" / RUNS).read_text("utf-8")
    cases = set(re.findall(r'^    "([^"]+)": [(\[]', source, re.MULTILINE))
    assert cases == {case for test, case in TESTS if case and test.startswith(RUNS)}
