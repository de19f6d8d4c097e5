"""The page of CaptionQA's analyses: one self-contained file."""

from __future__ import annotations

from caliper.adapters.captionqa_tables import table_sections
from caliper.adapters.pages.page import render
from caliper.analysis.captionqa.analyses import CaptionAnalyses


def render_analyses(analyses: CaptionAnalyses) -> str:
    """Render the page: a section for each analysis. Texts of questions are escaped."""
    return render(
        "captionqa_analyses.html",
        sections=table_sections(analyses),
        runs=analyses.runs,
        other_runs=analyses.other_runs,
    )
