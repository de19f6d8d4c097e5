"""Exports of reports, verdicts and comparisons."""
