"""Whoever can write to the store, digests and all, still changes nothing that is shown of a run."""

import hashlib
from collections.abc import Callable

import pytest
from tests.fakes.damage import Installation

KEY = b"k" * 64


def forge_report(site: Installation, run: str) -> str:
    """Change a figure of the report, and its digest where the reader compares it."""
    report, end = f"{run}report/report.json", f"{run}end.json"
    before = site.store.objects[report]
    site.edit(report, b'"score": 50.0', b'"score": 99.0')
    after = site.store.objects[report]
    digests = [hashlib.sha256(data).hexdigest().encode() for data in (before, after)]
    site.edit(end, *digests)
    return "end.json"


def forge_plan(site: Installation, run: str) -> str:
    """Leave out questions of the plan."""
    site.edit(f"{run}plan/summary.json", b'"questions":6', b'"questions":4')
    return "plan/summary.json"


def forge_caption(site: Installation, run: str) -> str:
    key = next(key for key in site.store.objects if key.startswith(f"{run}captions/"))
    site.edit(key, b"is green", b"is green, and much more")
    return key.removeprefix(run)


FORGERIES: dict[str, tuple[str, Callable[[Installation, str], str]]] = {
    "report and end": ("ended", forge_report),
    "plan": ("running", forge_plan),
    "caption": ("running", forge_caption),
}


@pytest.mark.parametrize("stripped", [False, True], ids=["signed for another", "unsigned"])
@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forged_object_is_refused_and_a_new_start_heals(
    name: str, *, stripped: bool
) -> None:
    when, forge = FORGERIES[name]
    whole, site = [await Installation.left(each, KEY) for each in ("ended", when)]
    ours, theirs = site.specs
    expected = [await whole.files(spec) for spec in site.specs]
    run = f"runs/{ours.run_id}/"
    forged = forge(site, run)
    if stripped:
        data = site.store.objects[run + forged]
        assert data.startswith(b'{"mac":"')
        site.store.objects[run + forged] = b"{" + data[len(b'{"mac":"",') + 64 :]
    await site.go_on("restarted")
    assert await site.files(theirs) == expected[1]
    shown = await site.files(ours)
    if shown is None:
        assert forged in await site.error(ours)
        await site.start(ours)
        await site.work()
        shown = await site.files(ours)
    assert shown == expected[0]
