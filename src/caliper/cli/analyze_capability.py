"""`caliper analyze capability`: the analyses of the CAPability paper, over stored runs."""

from __future__ import annotations

import asyncio
from typing import Annotated

from caliper.adapters.capability_tables import capability_sections
from caliper.analysis.capability.analyses import NAMES, analyse_verdicts
from caliper.cli.analyses import (
    Page,
    Runs,
    chosen_analyses,
    only_option,
    write_analyses,
)
from caliper.cli.comparison import Partial
from caliper.cli.flags import Json
from caliper.local.directory import find_run
from caliper.pipeline.comparing.element_verdicts import read_element_verdicts

Only = Annotated[list[str] | None, only_option(NAMES)]


def capability(
    runs: Runs,
    only: Only = None,
    html: Page = None,
    partial: Partial = False,
    json: Json = False,
) -> int:
    """Analyse the verdicts of several runs of CAPability.

    hits: precision against hit rate, by task and over runs; kt_bar: what a model answers right when
    asked, but leaves out of its caption; judging: the same captions judged again, and by other
    judges; sweeps: runs of one captioner with other frames or another resolution; length: caption
    length against score. A model is a run's label. Runs whose setup differs from the first serve
    the stability of the judge only. Exit code 3: no chosen analysis is possible with the runs.
    """
    names = chosen_analyses(only, NAMES)
    stored = [find_run(name).stored_run for name in runs]
    first, others = asyncio.run(read_element_verdicts(stored, partial=partial))
    analyses = analyse_verdicts(first, others, names)
    sections = capability_sections(analyses)
    return write_analyses(
        analyses, sections, "CAPability", "the stability of the judge", html=html, json=json
    )
