"""Evaluation results of models on the Hugging Face Hub, read back by its own library."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import huggingface_hub
import pytest
import yaml
from tests.fakes.http_answers import AnswerHandler, serving
from tests.fakes.results import fetched, files_in, in_state, judged_in_part, kept_results

from caliper.core.errors import CaliperError, InvalidInput, NotReady, StoreUnavailable
from caliper.local.exports import export
from caliper.wiring.export_sinks import target_under

DATASETS = "captionqa=Borise/CaptionQA,capability=lntzm/CAPability@abc:average"
MODEL = "team/captioner"


def entries(text: str | bytes) -> list[huggingface_hub.EvalResultEntry]:
    return huggingface_hub.parse_eval_result_entries(yaml.safe_load(text))


async def test_the_headlines_are_read_back_by_the_library_of_the_hub(tmp_path: Path) -> None:
    results = await kept_results("judged")
    source = "source=https://example.org/r,source_name=Logs,source_org=team"
    assert await export(results, f"hf:{tmp_path},{DATASETS},{source}") == str(
        tmp_path / ".eval_results"
    )
    files = files_in(tmp_path / ".eval_results")
    assert sorted(files) == ["caliper-capability.yaml", "caliper-captionqa.yaml"]
    (entry,) = entries(files["caliper-capability.yaml"])
    (part, _, _) = results.report.benchmarks
    assert entry.value == part.estimates[part.headline].value
    assert (entry.dataset_id, entry.dataset_revision) == ("lntzm/CAPability", "abc")
    assert (entry.task_id, entry.date) == ("average", results.ended)
    assert (entry.source_url, entry.source_name) == ("https://example.org/r", "Logs")
    assert (entry.source_user, entry.source_org) == (None, "team")
    assert entry.verify_token is None
    assert entry.notes is not None
    assert f"run {results.run}: average, F1" in entry.notes
    assert "Judge: fake/judge-8b (tgi, 0123456789ab)" in entry.notes
    assert "mean of 3 of the 13 tasks" in entry.notes
    (entry,) = entries(files["caliper-captionqa.yaml"])
    assert (entry.task_id, entry.source_org) == ("default", "team")


async def test_what_is_not_comparable_says_so_first(tmp_path: Path) -> None:
    await export(await kept_results("first"), f"hf:{tmp_path},{DATASETS}")
    for text in files_in(tmp_path).values():
        (entry,) = entries(text)
        assert entry.notes is not None
        assert entry.notes.startswith(
            "Not comparable with published figures: Scored by built-in rules"
        )
        assert entry.source_url is None


@pytest.mark.parametrize("state", ["finished", "decided", "running"])
async def test_only_complete_runs_are_published(tmp_path: Path, state: str) -> None:
    results = in_state(await kept_results("judged"), state)
    for target in (f"hf:{tmp_path},{DATASETS}", f"hf-pr:{MODEL},{DATASETS}"):
        with pytest.raises(NotReady, match="only complete runs"):
            await export(results, target)
    assert not files_in(tmp_path)


async def test_a_run_that_was_judged_in_part_is_not_published(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match=r"only complete runs .* Judged in part"):
        await export(judged_in_part(await kept_results("judged")), f"hf:{tmp_path},{DATASETS}")
    assert not files_in(tmp_path)


async def test_results_of_another_run_stay(tmp_path: Path) -> None:
    target = f"hf:{tmp_path},{DATASETS}"
    await export(await kept_results("first"), target)
    before = files_in(tmp_path)
    with pytest.raises(InvalidInput, match="another run"):
        await export(await kept_results("judged"), target)
    await export(await kept_results("first"), target)
    assert files_in(tmp_path) == before


async def test_data_that_were_fetched_from_the_hub_have_a_name(tmp_path: Path) -> None:
    results = fetched(await kept_results("judged"), "captionqa", "hf:Borise/CaptionQA@abc/x.json")
    await export(results, f"hf:{tmp_path}")
    (entry,) = entries((tmp_path / ".eval_results" / "caliper-captionqa.yaml").read_text())
    assert (entry.dataset_id, entry.dataset_revision) == ("Borise/CaptionQA", "abc")
    assert len(files_in(tmp_path)) == 1


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("", "name the folder"),
        ("x", "captionqa=OWNER/NAME"),
        ("x,captionqa=CaptionQA", "expected OWNER/NAME"),
        ("x,captionqa", "captionqa: expected a value"),
        ("x,nothing=a/b", "unknown option 'nothing'"),
        ("x,captionqa=a/b,captionqa=c/d", "given twice"),
        ("x,captionqa=a/b,source_user=me", "source: missing"),
    ],
)
async def test_a_target_says_what_it_lacks(where: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        await export(await kept_results("first"), f"hf:{where}")


def test_the_folder_of_a_run_file_is_not_put_into_options(tmp_path: Path) -> None:
    target = "hf:repo,source=https://example.org/r"
    assert target_under(tmp_path, target) == f"hf:{tmp_path}/repo,source=https://example.org/r"


class Hub(AnswerHandler):
    """A Hub with one model: pull requests by number, and the files that were committed to each."""

    proposals: dict[int, str]
    files: dict[int, dict[str, bytes]]
    refusal: int | None

    def get(self) -> None:
        discussions = [
            {
                "title": title,
                "num": number,
                "createdAt": "2026-11-22T16:14:29.000Z",
                "status": "open",
                "repo": {"name": MODEL, "type": "model"},
                "isPullRequest": True,
            }
            for number, title in self.proposals.items()
        ]
        self.answer({"discussions": discussions, "count": len(discussions), "start": 0})

    def post(self) -> None:
        body = self.body()
        url = urlsplit(self.path)
        *_, action, revision = url.path.split("/")
        if action == "preupload":
            names = [file["path"] for file in json.loads(body)["files"]]
            modes = [
                {"path": name, "uploadMode": "regular", "shouldIgnore": False} for name in names
            ]
            self.answer({"files": modes})
            return
        lines = [json.loads(line) for line in body.splitlines()]
        number = int(revision.rpartition("%2F")[2]) if "create_pr" not in parse_qs(url.query) else 1
        self.proposals[number] = lines[0]["value"]["summary"]
        self.files.setdefault(number, {}).update(
            (line["value"]["path"], base64.b64decode(line["value"]["content"]))
            for line in lines
            if line["key"] == "file"
        )
        place = f"http://{self.headers['host']}/{MODEL}"
        answer = {"commitUrl": f"{place}/commit/0", "commitOid": "0" * 40, "success": True}
        if "create_pr" in parse_qs(url.query):
            answer["pullRequestUrl"] = f"{place}/discussions/{number}"
        self.answer(answer)

    def answer(self, content: object, *_: object) -> None:
        super().answer({"error": "not here"} if self.refusal else content, self.refusal or 200)


@contextmanager
def hub(monkeypatch: pytest.MonkeyPatch, refusal: int | None = None) -> Iterator[type[Hub]]:
    class OwnHub(Hub):
        pass

    OwnHub.proposals, OwnHub.files, OwnHub.refusal = {}, {}, refusal
    with serving(OwnHub) as address:
        # HF_ENDPOINT is read when the library is imported.
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://{address}")
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        yield OwnHub


async def test_a_run_has_one_pull_request(monkeypatch: pytest.MonkeyPatch) -> None:
    results = await kept_results("judged")
    with hub(monkeypatch) as own:
        place = await export(results, f"hf-pr:{MODEL},{DATASETS}")
        assert place.endswith(f"/{MODEL}/discussions/1")
        assert own.proposals == {1: f"Caliper: evaluation results of run {results.run}"}
        assert sorted(own.files[1]) == [
            ".eval_results/caliper-capability.yaml",
            ".eval_results/caliper-captionqa.yaml",
        ]
        (entry,) = entries(own.files[1][".eval_results/caliper-captionqa.yaml"])
        assert entry.dataset_id == "Borise/CaptionQA"
        assert await export(results, f"hf-pr:{MODEL},{DATASETS}") == place
        assert list(own.proposals) == list(own.files) == [1]


@pytest.mark.parametrize(
    ("status", "failure", "problem"),
    [
        (403, InvalidInput, "set HF_TOKEN"),
        (404, InvalidInput, "404"),
        (503, StoreUnavailable, "503"),
    ],
)
async def test_what_the_hub_refuses_is_told_without_the_token(
    monkeypatch: pytest.MonkeyPatch, status: int, failure: type[CaliperError], problem: str
) -> None:
    with hub(monkeypatch, status), pytest.raises(failure, match=problem) as raised:
        await export(await kept_results("judged"), f"hf-pr:{MODEL},{DATASETS}")
    assert "hf_secret" not in str(raised.value)


async def test_a_hub_that_cannot_be_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(StoreUnavailable, match="cannot reach the Hub"):
        await export(await kept_results("judged"), f"hf-pr:{MODEL},{DATASETS}")


async def test_a_pull_request_needs_a_model() -> None:
    with pytest.raises(InvalidInput, match="OWNER/NAME of a model"):
        await export(await kept_results("judged"), f"hf-pr:captioner,{DATASETS}")
