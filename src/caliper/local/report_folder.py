"""The folder that `--out` names for the report files of an installation's run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.adapters.exports.report_reader import read_report
from caliper.adapters.files import write_atomically
from caliper.benchmarks.settings import resolve_settings
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.core.keys import canonical_json
from caliper.core.report import Report
from caliper.core.run import RunSpec
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.planning.resolution import EvaluationRequest
from caliper.pipeline.reports.run_reader import FILES
from caliper.pipeline.store.dataset_names import is_dataset_name

if TYPE_CHECKING:
    from caliper.adapters.remote.gateway import RemoteGateway

_REPORT = "report.json"
_ASKED = ("name", "seed", "limit", "replicate", "coverage_floor", "judge_share")
"""The fields of a request that its run's spec repeats."""


class ReportFolder:
    """A folder that is new, empty, or holds only what was written for one run. Without a path,
    nothing is written.
    """

    def __init__(self, path: Path | None) -> None:
        """Raises InvalidInput for a folder with other files, which could be overwritten;
        StoreUnavailable for what is no readable folder.
        """
        self.path = path
        self._report = None if path is None else _read(path)

    def refuse_other_request(self, request: EvaluationRequest) -> None:
        """Raise InvalidInput if the report is surely not of the run that a request leads to. Before
        its start, only the installation knows its models.
        """
        if self._report is not None and not _may_be_of(self._report, request):
            self._refuse(self._report)

    def refuse_other_run(self, spec: RunSpec) -> None:
        """Raise InvalidInput if the report is not of the run with this spec."""
        if self._report is not None and _identity(self._report) != _identity(empty_report(spec)):
            self._refuse(self._report)

    def _refuse(self, report: Report) -> None:
        raise InvalidInput(
            f"holds the report of another run ({report.name}); choose another directory with --out",
            file=str(self.path),
        )

    async def write(self, gateway: RemoteGateway, run: str) -> None:
        """Write the report files of a run. Raises what `RemoteGateway.report` raises, StoreFull or
        StoreUnavailable.
        """
        if self.path is None:
            return
        for file in FILES:
            data = await gateway.report(run, file, partial=True)
            await asyncio.to_thread(write_atomically, self.path / file, data)


def _read(folder: Path) -> Report | None:
    """The report in a folder; None if the folder is new or empty."""
    if not folder.exists():
        return None
    try:
        entries = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise StoreUnavailable(
            f"cannot write the folder {folder}: {error.strerror}; choose another with --out"
        ) from error
    visible = [name for name in entries if not name.startswith(".")]
    # The report is written first.
    foreign = [name for name in visible if name not in FILES or _REPORT not in visible]
    if foreign:
        raise InvalidInput(
            f"contains {', '.join(foreign[:10])}, not part of a served run's report; choose a new "
            "or an empty directory with --out",
            file=str(folder),
        )
    if not visible:
        return None
    file = folder / _REPORT
    try:
        return read_report(file.read_text("utf-8"), str(file))
    except (OSError, ValueError, InvalidInput) as error:
        raise InvalidInput(
            "not a report of this release; choose a new or an empty directory with --out",
            file=str(file),
        ) from error


def _may_be_of(report: Report, request: EvaluationRequest) -> bool:
    spec, settings = report.spec, {part.name: part.settings for part in report.benchmarks}
    if settings.keys() != {part.name for part in request.benchmarks}:
        return False
    captions = {part.name: part.captions for part in request.benchmarks if part.captions}
    return (
        all(getattr(request, field) == spec.get(field) for field in _ASKED)
        and captions == spec.get("captions")
        and all(
            {**resolve_settings(part.name, part.settings), "prompt": part.prompt}.items()
            <= settings[part.name].items()
            and (is_dataset_name(part.data) or part.data == spec.get("data", {}).get(part.name))
            for part in request.benchmarks
        )
    )


def _identity(report: Report) -> bytes:
    """What a report says of the spec of its run, but for where data were fetched from."""
    spec = {key: value for key, value in report.spec.items() if key != "data_names"}
    parts = {part.name: [part.settings, part.models] for part in report.benchmarks}
    return canonical_json([spec, parts])
