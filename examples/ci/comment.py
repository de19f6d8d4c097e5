"""Writes a Markdown file as a comment on the pull or merge request of a CI job; the next time, into
the same comment. Needs nothing but Python.

    python3 comment.py gate/gate.md

GitHub: GITHUB_TOKEN and PULL_REQUEST. GitLab: COMMENT_TOKEN. The CI sets the rest.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MARK = "<!-- caliper gate -->"
_MOST = 60_000
"""GitHub takes 65,536 characters."""
_PAGE = 100


@dataclass(frozen=True)
class Comments:
    """The comments of a request, at `url`; `one` is where a comment is changed, by `change`."""

    url: str
    one: str
    change: str
    headers: dict[str, str]
    is_ours: Callable[[Any], bool]

    def write(self, text: str) -> None:
        """Write the text into our comment, or a new one."""
        known = self._ours()
        if known is None:
            call(self.url, self.headers, "POST", text)
        else:
            call(f"{self.one}/{known}", self.headers, self.change, text)

    def _ours(self) -> Any:
        page, found = 0, [None] * _PAGE
        while len(found) == _PAGE:
            page += 1
            found = call(f"{self.url}?per_page={_PAGE}&page={page}", self.headers)
            for comment in found:
                # Anybody may write the mark.
                if comment["body"].startswith(_MARK) and self.is_ours(comment):
                    return comment["id"]
        return None


def call(url: str, headers: dict[str, str], method: str = "GET", body: str | None = None) -> Any:
    """The reply of the API, which has to be JSON."""
    data = None if body is None else json.dumps({"body": body}).encode()
    headers = {**headers, "Content-Type": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310 - the CI's own
    with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
        return json.load(response)


def on_github(given: Mapping[str, str]) -> Comments:
    """The comments of a pull request. Ours are a bot's."""
    issues = f"{given['GITHUB_API_URL']}/repos/{given['GITHUB_REPOSITORY']}/issues"
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {given['GITHUB_TOKEN']}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    url = f"{issues}/{given['PULL_REQUEST']}/comments"
    return Comments(
        url,
        f"{issues}/comments",
        "PATCH",
        headers,
        lambda comment: comment["user"]["type"] == "Bot",
    )


def on_gitlab(given: Mapping[str, str]) -> Comments:
    """The notes of a merge request. Ours are those of the token's owner."""
    api, headers = given["CI_API_V4_URL"], {"PRIVATE-TOKEN": given["COMMENT_TOKEN"]}
    request = f"merge_requests/{given['CI_MERGE_REQUEST_IID']}"
    notes = f"{api}/projects/{given['CI_PROJECT_ID']}/{request}/notes"
    owner = call(f"{api}/user", headers)["id"]
    return Comments(notes, notes, "PUT", headers, lambda note: note["author"]["id"] == owner)


def main(file: Path) -> None:
    """Comment, unless a GitLab project has no token for it."""
    text = "**The captions were not compared:** see the log of the job."
    if file.exists():
        text = file.read_text(encoding="utf-8")[:_MOST]
    given, on_host = os.environ, on_gitlab if "CI_API_V4_URL" in os.environ else on_github
    if on_host is on_gitlab and not given.get("COMMENT_TOKEN"):
        print("no comment: COMMENT_TOKEN is not set")
        return
    on_host(given).write(f"{_MARK}\n{text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
